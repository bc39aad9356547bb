/**
 * What the runs of the bench do: the writes of a response, of a tree of subagents, and of a run that is taken over.
 */

import type { Engine, RunContext, RunOutcome, Step } from "../../src/engine/engine.ts";
import type { RunEnd, RunEvent } from "../../src/protocol/run-events.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";

/** As long as a delta of some words with what is around it. */
const TEXT = "x".repeat(60);
const BATCH = 5;

/** `onTaken` is called in the step that the first owner of a `hang` never ends. */
export function defineBodies(engine: Engine, onTaken: () => void): void {
  engine.define("response", answer);
  engine.define("node", grow);
  engine.define("hang", async (context) => {
    await context.step("one", async () => null);
    await context.step("two", async () => {
      onTaken();
      if (!context.isTakeover) await new Promise(() => {});
      return null;
    });
    return completed([]);
  });
}

/** Three steps and 50 events: a model's answer of four batches, a tool, an answer of five batches, the ending. */
async function answer(context: RunContext): Promise<RunOutcome> {
  await context.step("model:1", (step) => speak(context, step, 4));
  await context.step("tool:1", async (step) => {
    await context.emit(toEvents(1));
    step.end(toEvents(1));
    return TEXT;
  });
  await context.step("model:2", (step) => speak(context, step, 5));
  return completed([toEnd()]);
}

async function speak(context: RunContext, step: Step, batches: number): Promise<string> {
  for (let batch = 0; batch < batches; batch++) await context.emit(toEvents(BATCH));
  step.end(toEvents(1));
  return TEXT;
}

/** Three children each, down to depth 0: 13 runs from depth 2. */
async function grow(context: RunContext, depth: unknown): Promise<RunOutcome> {
  await context.step("work", async (step) => {
    step.end(toEvents(2));
    return null;
  });
  if (Number(depth) > 0) {
    const keys = ["a", "b", "c"];
    const started = keys.map((key) => context.child(key, "node", Number(depth) - 1));
    const children = await Promise.all(started);
    await Promise.all(children.map((child) => child.result()));
  }
  return completed([toEnd()]);
}

function completed(events: readonly RunEvent[]): RunOutcome {
  return { ending: "completed", result: null, events };
}

function toEvents(count: number): RunEvent[] {
  return Array.from({ length: count }, () => ({ type: "notice", code: "wait", message: TEXT }));
}

function toEnd(): RunEnd {
  return {
    type: "run_end",
    ending: "completed",
    message: "",
    output_text: "",
    output_json: null,
    error: null,
    turns: 2,
    tool_calls: 1,
    usage: NO_USAGE,
    cost_usd: null,
    spent: {},
    at_ms: 0,
  };
}
