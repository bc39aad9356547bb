/**
 * The tool calls of one turn: side by side where they only read, in order where they change things.
 *
 * A changing call is a fence: what the model asked for before it is done before, what it asked for
 * after it is done after. Results go back in call order, whoever was first.
 */

import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { RunContext, Step } from "../engine/engine.ts";
import type { FunctionCall, FunctionCallOutput } from "../protocol/items.ts";
import type { Gate } from "../tools/gate/gate.ts";
import type { AgentTask } from "./task.ts";

/** Enough to keep a disk busy; more only makes one turn starve the others. */
const MAX_SIDE_BY_SIDE = 8;

export interface ToolParts {
  readonly context: RunContext;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly task: AgentTask;
}

interface Done {
  readonly item: FunctionCallOutput;
  readonly thrown: string | null;
}

/** Where the calls stand in the run. */
interface Place {
  readonly turn: number;
  /** How many calls the run has made before. */
  readonly callsBefore: number;
}

/** Runs the calls and returns their outputs in call order. */
export async function runToolCalls(
  parts: ToolParts,
  { turn, callsBefore }: Place,
  calls: readonly FunctionCall[],
): Promise<FunctionCallOutput[]> {
  const outputs: FunctionCallOutput[] = [];
  for (const group of toGroups(calls, parts.gate)) {
    const steps = group.map((call, at) => {
      const place = outputs.length + at;
      const numbered = { call, ordinal: callsBefore + place + 1 };
      return {
        // By place and not by id: there are servers that give one id to all calls, or count ids from
        // 0 in every answer.
        key: `tool:${turn}.${place}`,
        fn: async (step: Step) => (await runCall(parts, numbered, step)) as unknown as Json,
      };
    });
    const done = (await parts.context.all(steps, MAX_SIDE_BY_SIDE)) as unknown as Done[];
    outputs.push(...done.map(({ item }) => item));
    const thrown = done.find((one) => one.thrown !== null)?.thrown;
    if (thrown && parts.task.on_throw === "end") throw new Failure("tool_failed", thrown);
  }
  return outputs;
}

function toGroups(calls: readonly FunctionCall[], gate: Gate): FunctionCall[][] {
  const groups: FunctionCall[][] = [];
  let isOpen = false;
  for (const call of calls) {
    const readOnly = gate.isReadOnly(call.name);
    if (readOnly && isOpen) groups.at(-1)?.push(call);
    else groups.push([call]);
    isOpen = readOnly;
  }
  return groups;
}

interface NumberedCall {
  readonly call: FunctionCall;
  readonly ordinal: number;
}

async function runCall(
  { context, gate, clock }: ToolParts,
  { call, ordinal }: NumberedCall,
  { signal, idempotencyKey }: Step,
): Promise<Done> {
  const { call_id, name, arguments: text } = call;
  await context.emit([{ type: "tool_start", call_id, name, arguments: text, at_ms: clock.now() }]);
  const asked = { name, arguments: text, ordinal };
  const { output, failed, thrown } = await gate.call(asked, {
    signal,
    idempotencyKey,
    decided: (decision) =>
      context.emit([{ type: "tool_decision", call_id, name, ...decision, at_ms: clock.now() }]),
  });
  const sent = typeof output === "string" ? output : [...output];
  const item: FunctionCallOutput = { type: "function_call_output", call_id, output: sent };
  await context.emit([{ type: "tool_end", call_id, name, item, failed, at_ms: clock.now() }]);
  return { item, thrown: thrown && typeof output === "string" ? output : null };
}
