/** Deployments whose answers are scripted, and a clock that moves while they are waited for. */

import assert from "node:assert/strict";
import type { ModelEnd, ModelEvent } from "../../../src/protocol/model-events.ts";
import type { Notice } from "../../../src/protocol/run-events.ts";
import {
  createDeploymentsProvider,
  type OpenDeployment,
} from "../../../src/providers/deployments/deployments-provider.ts";
import {
  createHealths,
  type DeploymentHealths,
} from "../../../src/providers/deployments/health.ts";
import type { ModelRequest, Provider } from "../../../src/providers/provider.ts";
import {
  createManualClock,
  createScriptedProvider,
  type ManualClock,
  type Reply,
  reply,
} from "../../../src/testing/index.ts";
import { patience } from "../../patience.ts";
import { request } from "../provider-contract.ts";

export const RETRY = { attempts: 3, baseMs: 100, maxMs: 1000, maxRetryAfterMs: 60_000 };
export const OK = reply.text("Hello there.");
export const DOWN = reply.status(503, "down");

interface Given extends Partial<Omit<OpenDeployment, "provider" | "health">> {
  readonly replies?: readonly Reply[];
  readonly provider?: Provider;
}

interface Group {
  readonly provider: Provider;
  readonly clock: ManualClock;
  readonly healths: DeploymentHealths;
  readonly deployments: readonly OpenDeployment[];
  /** The asked deployments, in order. */
  readonly asked: string[];
  readonly requests: ModelRequest[];
}

export function open(
  given: Readonly<Record<string, Given | readonly Reply[]>>,
  random = 0,
  attempts = RETRY.attempts,
): Group {
  const clock = createManualClock();
  const healths = createHealths(clock);
  const asked: string[] = [];
  const requests: ModelRequest[] = [];
  const deployments = Object.entries(given).map(([label, one]): OpenDeployment => {
    const { replies = [], provider, ...more } = "length" in one ? { replies: one } : (one as Given);
    const inner = provider ?? createScriptedProvider(...replies);
    return {
      label,
      model: `custom/${label}`,
      weight: 1,
      isFallback: false,
      mark: label,
      contextTokens: undefined,
      sealed: undefined,
      checkInput() {},
      ...more,
      health: healths.of(label, label),
      provider: {
        name: inner.name,
        stream(said, call) {
          asked.push(label);
          requests.push(said);
          call.onSend?.();
          return inner.stream(said, call);
        },
      },
    };
  });
  const options = { retry: { ...RETRY, attempts }, clock, random: () => random };
  const provider = createDeploymentsProvider(deployments, options);
  return { provider, clock, healths, deployments, asked, requests };
}

export async function ask(
  { provider, clock }: Pick<Group, "provider" | "clock">,
  more: Partial<ModelRequest> = {},
  notice: (said: Omit<Notice, "type">) => void = () => {},
  onEnd: () => void = () => {},
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const reading = (async () => {
    const call = { signal: patience(), notice };
    for await (const batch of provider.stream({ ...request(), ...more }, call)) {
      events.push(...batch);
    }
  })();
  let isOver = false;
  const over = (): void => {
    isOver = true;
    onEnd();
  };
  reading.then(over, over);
  // Waits are part of the answer: the clock moves until it is complete.
  while (!isOver) await clock.advance(100);
  await reading;
  return events;
}

export function endOf(events: readonly ModelEvent[]): ModelEnd {
  const end = events.at(-1);
  return end?.type === "end" ? end : assert.fail("no end");
}
