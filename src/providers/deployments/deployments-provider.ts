/**
 * One provider for a name with several deployments. A call goes to one of them, and to the next one if that
 * fails before any output. After the first output no other deployment is asked.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { ModelCall, ModelRequest, Provider, WholeAnswer } from "../provider.ts";
import { collectAnswer, hasOutput } from "../whole-answer.ts";
import { type Askable, askAny, type DeploymentAnswer, type DeploymentsOptions } from "./ask-any.ts";
import { type DeploymentVerdict, toVerdict } from "./failure-rules.ts";
import { markSeals, openSeals } from "./own-seals.ts";

export interface OpenDeployment extends Askable {
  readonly provider: Provider;
  /** True if its model gives its reasoning in a sealed form; undefined if that is not known. */
  readonly sealed: boolean | undefined;
  /** Identifies the account that its seals belong to. Letters only. */
  readonly mark: string;
  /** Throws for items of a kind that it is known not to accept. */
  readonly checkInput: (items: readonly Item[]) => void;
}

type Batch = readonly ModelEvent[];

export function createDeploymentsProvider(
  deployments: readonly OpenDeployment[],
  options: DeploymentsOptions = {},
): Provider {
  function ask<Out>(
    request: ModelRequest,
    call: ModelCall,
    askOne: (one: Try) => Promise<Out>,
  ): Promise<DeploymentAnswer<OpenDeployment, Out>> {
    const fitting = findFitting(deployments, request);
    const asking = { deployments: fitting, options, stay: request.deployment, call };
    return askAny(asking, (deployment, inner) =>
      askOne({ deployment, request: toRequest(request, deployment), call: inner }),
    );
  }

  async function* stream(request: ModelRequest, call: ModelCall): AsyncGenerator<Batch, void> {
    const answered = await ask(request, call, begin);
    const { first, rest } = answered.out;
    // A client that disconnects says nothing about the deployment.
    let verdict: DeploymentVerdict = "unknown";
    try {
      yield tell(first, answered);
      for await (const batch of rest) yield tell(batch, answered);
      verdict = "well";
    } catch (thrown) {
      verdict = toVerdict(toFailure(thrown));
      throw thrown;
    } finally {
      // A consumer that stops at the first batch never entered `rest`.
      await rest.return().finally(() => answered.health.end(verdict));
    }
  }

  async function answer(request: ModelRequest, call: ModelCall): Promise<WholeAnswer> {
    const answered = await ask(request, call, askWhole);
    const { events, failure } = answered.out;
    answered.health.end(failure ? toVerdict(failure) : "well");
    return { events: tell(events, answered), failure };
  }

  const omits: Provider["omits"] = (asked) => [
    ...new Set(deployments.flatMap(({ provider }) => provider.omits?.(asked) ?? [])),
  ];
  return { name: "deployments", stream, answer, omits };
}

/** One attempt at one deployment. */
interface Try {
  readonly deployment: OpenDeployment;
  readonly request: ModelRequest;
  readonly call: ModelCall;
}

interface Begun {
  readonly first: Batch;
  readonly rest: AsyncGenerator<Batch, void>;
}

/** Waits for the first output: until then another deployment may be asked. */
async function begin({ deployment, request, call }: Try): Promise<Begun> {
  const rest = deployment.provider.stream(request, call);
  const first: ModelEvent[] = [];
  while (!hasOutput(first)) {
    const next = await rest.next();
    if (next.done) throw new Failure("provider_broke_protocol", "The answer is empty.");
    first.push(...next.value);
  }
  return { first, rest };
}

function askWhole({ deployment: { provider }, request, call }: Try): Promise<WholeAnswer> {
  return provider.answer?.(request, call) ?? collectAnswer(provider.stream(request, call));
}

/**
 * Adds the deployment that answered to the end event, and marks sealed reasoning as belonging to its
 * account.
 */
function tell(batch: Batch, { by, deployment }: DeploymentAnswer<OpenDeployment, unknown>): Batch {
  const marked = markSeals(batch, deployment.mark);
  if (marked.at(-1)?.type !== "end") return marked;
  return marked.map((event) => (event.type === "end" ? { ...event, by } : event));
}

function findFitting(
  deployments: readonly OpenDeployment[],
  { items }: ModelRequest,
): readonly OpenDeployment[] {
  let refusal: unknown;
  const fitting = deployments.filter(({ checkInput }) => {
    try {
      checkInput(items);
      return true;
    } catch (thrown) {
      refusal ??= thrown;
      return false;
    }
  });
  if (fitting.length === 0 && refusal !== undefined) throw refusal;
  return fitting;
}

/**
 * The request for one deployment, without what belongs to another: the previous answer's id, and sealed
 * reasoning.
 */
function toRequest(request: ModelRequest, deployment: OpenDeployment): ModelRequest {
  const { label, model, sealed, mark } = deployment;
  return {
    ...request,
    model: model.slice(model.indexOf("/") + 1),
    deployment: undefined,
    items: openSeals(request.items, mark),
    previous: request.deployment === label ? request.previous : undefined,
    reasoning: { ...request.reasoning, sealed: sealed ?? request.reasoning.sealed },
  };
}
