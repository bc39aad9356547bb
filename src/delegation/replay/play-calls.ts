/**
 * Plays the recorded turns and tool calls of a run again, and compares what a changed call returns with what is
 * recorded.
 */

import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { FunctionCallOutput } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { RunEnd } from "../../protocol/run-events.ts";
import type { CallContext, ToolResult } from "../../tools/gate/call.ts";
import type { Gate } from "../../tools/gate/gate.ts";
import type { BackgroundDoor } from "../background-door.ts";
import { isDelegating } from "../tools/names.ts";
import {
  type BrokenTurn,
  type RecordedCall,
  type RecordedRun,
  toRecordedFailure,
} from "./recorded-run.ts";

export type AskedCall = Parameters<Gate["call"]>[0];

export interface KnownCall {
  readonly context: CallContext;
  readonly result: NonNullable<RecordedCall["result"]>;
  readonly background: BackgroundDoor | undefined;
}

/** A call in flight when the run ended. Its children are replayed all the same. */
export async function breakCall(
  live: Gate,
  call: AskedCall,
  { context, end }: { readonly context: CallContext; readonly end: RunEnd | undefined },
): Promise<never> {
  // However the call ends, the run ends as it was recorded.
  if (isDelegating(call.name)) await live.call(call, context).catch(() => {});
  throw toRecordedFailure(end);
}

/** Undefined for a turn that the record does not have. */
export function playTurn(
  recorded: RecordedRun | undefined,
  turn: number,
): AsyncGenerator<readonly ModelEvent[], void> | undefined {
  const known = recorded?.turns.find(({ number }) => number === turn);
  if (known) {
    const { reason, usage, cost_usd, by } = known.end;
    const told = { reason, usage, cost_usd: cost_usd ?? undefined, by };
    return play([...known.said, { type: "end", ...told, continuation: undefined }]);
  }
  if (recorded?.broken?.number === turn) return playBroken(recorded.broken);
  // The run's process died, and no other process continued it.
  const isLost = recorded !== undefined && recorded.end === undefined;
  return isLost ? playBroken({ said: [], failure: toRecordedFailure(undefined) }) : undefined;
}

async function* play(events: readonly ModelEvent[]): AsyncGenerator<readonly ModelEvent[], void> {
  yield events;
}

/** The recorded part of a model's answer, and the reason why it ended there. */
async function* playBroken({
  said,
  failure,
}: Omit<BrokenTurn, "number">): AsyncGenerator<readonly ModelEvent[], void> {
  if (said.length > 0) yield said;
  throw failure;
}

export async function playCall(
  { output, failed, thrown, decisions }: KnownCall["result"],
  context: CallContext,
): Promise<ToolResult> {
  for (const { type: _, call_id: __, name: ___, at_ms: ____, ...decision } of decisions) {
    await context.decided(decision);
  }
  const isCounted = decisions.some(({ verdict }) => verdict === "allow");
  if (isCounted) await context.take();
  return { output, failed, thrown };
}

/** `run/tool:2.0` is the first call of turn 2. */
export function findCall(recorded: RecordedRun | undefined, key: string): RecordedCall | undefined {
  const [, turn, place] = /:(\d+)\.(\d+)$/.exec(key) ?? [];
  return recorded?.turns.find(({ number }) => number === Number(turn))?.calls[Number(place)];
}

/**
 * Compares two results of a call that delegates, without the figures of what its children used.
 *
 * The figures in results that a model reads. Tokens count abandoned and interrupted work too, which is not replayed.
 */
const FIGURES: ReadonlySet<string> = new Set([
  "duration_ms",
  "total_duration_ms",
  "tokens_used",
  "tokens_consumed",
]);

type Output = FunctionCallOutput["output"];

export function isSameResult(one: unknown, other: Output): boolean {
  return toComparable(one) === toComparable(other);
}

function toComparable(output: unknown): string {
  const parsed = typeof output === "string" ? tryParseJson(output) : undefined;
  const value = isJsonObject(parsed) ? parsed : output;
  return JSON.stringify(value, (key, part: unknown) => (FIGURES.has(key) ? undefined : part));
}
