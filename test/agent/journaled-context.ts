/** The steps and the log of a run without an engine: for tests of the code that a run executes. */

import assert from "node:assert/strict";
import type { Json } from "../../src/base/json.ts";
import type { RunContext, Step } from "../../src/engine/engine.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { patience } from "../patience.ts";

export interface Journal {
  readonly steps: Map<string, Json>;
  readonly events: RunEvent[];
}

export function createJournal(): Journal {
  return { steps: new Map(), events: [] };
}

/** A context over a journal. A second one over the same journal is that of the next owner of the run. */
export function createJournaledContext({ steps, events }: Journal): RunContext {
  const used = new Set<string>();
  const signal = patience();

  async function step<Out extends Json>(
    key: string,
    fn: (step: Step) => Promise<Out>,
  ): Promise<Out> {
    assert.ok(!used.has(key), `the key ${key} is used twice`);
    used.add(key);
    const known = steps.get(key);
    if (known !== undefined) return known as Out;
    let last: readonly RunEvent[] = [];
    const made = await fn({
      idempotencyKey: `run_1/${key}`,
      signal,
      confirm: async () => {},
      end: (ending) => {
        last = ending;
      },
    });
    events.push(...last);
    steps.set(key, made);
    return made;
  }

  const given: Partial<RunContext> = {
    id: "run_1",
    tenant: null,
    signal,
    step,
    all: async (list) => await Promise.all(list.map(({ key, fn }) => step(key, fn))),
    recall: (key) => steps.get(key),
    emit: async (more) => events.push(...more) - 1,
  };
  return given as RunContext;
}
