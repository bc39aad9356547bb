/**
 * One provider for a name that stands for several deployments: a call is asked of one of them, and of the
 * next one when that fails before any output. After the first output nothing is asked again.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { ModelCall, ModelRequest, Provider, WholeAnswer } from "../provider.ts";
import { collectAnswer, hasOutput } from "../whole-answer.ts";
import { type Answered, type Askable, askAny, type DeploymentsOptions } from "./ask-any.ts";
import { toVerdict } from "./failure-rules.ts";
import type { Verdict } from "./health.ts";
import { markSeals, openSeals } from "./own-seals.ts";

export interface OpenDeployment extends Askable {
  readonly provider: Provider;
  /** Whether its model gives its reasoning in a sealed form; undefined where that is not known. */
  readonly sealed: boolean | undefined;
  /** Tells apart the accounts that seals belong to; letters alone. */
  readonly mark: string;
  /** Throws for items of a kind that it is known not to take. */
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
  ): Promise<Answered<OpenDeployment, Out>> {
    const fitting = findFitting(deployments, request);
    const asking = { deployments: fitting, options, stay: request.deployment, call };
    return askAny(asking, (deployment, inner) =>
      askOne({ deployment, request: toRequest(request, deployment), call: inner }),
    );
  }

  async function* stream(request: ModelRequest, call: ModelCall): AsyncGenerator<Batch, void> {
    const answered = await ask(request, call, begin);
    const { first, rest } = answered.out;
    // Of a client that leaves nothing is learned.
    let verdict: Verdict = "unknown";
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

/** One try at one deployment. */
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

/** The end says who answered; what is sealed is marked as that one's. */
function tell(batch: Batch, { by, deployment }: Answered<OpenDeployment, unknown>): Batch {
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

/** What belongs to another deployment stays behind: the answer it goes on from, and what it sealed. */
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
