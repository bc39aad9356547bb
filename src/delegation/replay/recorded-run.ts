/** A run as its log has it, ready to be played again: its turns, and what its calls returned. Pure. */

import type { FunctionCall, FunctionCallOutput, Item } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type {
  LoggedEvent,
  RunEnd,
  RunEvent,
  RunStart,
  ToolDecision,
  TurnEnd,
} from "../../protocol/run-events.ts";

export interface RecordedRun {
  readonly id: string;
  readonly path: string;
  readonly start: RunStart;
  /** By their numbers, from 1; a turn that was cut by a crash is there as it was taken again. */
  readonly turns: readonly RecordedTurn[];
  readonly end: RunEnd | undefined;
  readonly log: readonly LoggedEvent[];
}

export interface RecordedTurn {
  readonly number: number;
  /** What the model said. */
  readonly said: readonly ModelEvent[];
  readonly end: TurnEnd;
  /** In the order of the calls. */
  readonly calls: readonly RecordedCall[];
}

export interface RecordedCall {
  readonly call: FunctionCall;
  /** Undefined where the run ended before it returned. */
  readonly result: RecordedResult | undefined;
}

export interface RecordedResult {
  readonly output: FunctionCallOutput["output"];
  readonly failed: boolean;
  readonly decisions: readonly ToolDecision[];
}

/** Undefined for a run that ended before it began. */
export function readRecordedRun(
  id: string,
  path: string,
  log: readonly LoggedEvent[],
): RecordedRun | undefined {
  const events = log.map(({ event }) => event);
  const [start] = events;
  if (start?.type !== "run_start") return undefined;
  const end = events.findLast((event): event is RunEnd => event.type === "run_end");
  return { id, path, start, turns: readTurns(events), end, log };
}

function readTurns(events: readonly RunEvent[]): RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  for (const [at, event] of events.entries()) {
    if (event.type !== "turn_end") continue;
    const begin = events.findLastIndex(
      (one, place) => place < at && one.type === "turn_start" && one.turn === event.turn,
    );
    const said = events.slice(begin, at).filter(isSaid);
    const behind = events.slice(at + 1);
    const next = behind.findIndex(({ type }) => type === "turn_start");
    const results = next < 0 ? behind : behind.slice(0, next);
    turns.push({ number: event.turn, said, end: event, calls: readCalls(said, results) });
  }
  return turns;
}

/** What is not a model's word: a turn's log has all of these between its start and its end. */
const OURS: ReadonlySet<string> = new Set(["turn_start", "notice", "run_resume"]);

function isSaid(event: RunEvent): event is RunEvent & ModelEvent {
  return !OURS.has(event.type);
}

/** Servers give one id to several calls: of calls with the same id, the first result is the first's. */
function readCalls(said: readonly ModelEvent[], results: readonly RunEvent[]): RecordedCall[] {
  const ends = results.filter((event) => event.type === "tool_end");
  const decisions = results.filter((event) => event.type === "tool_decision");
  const items = said.flatMap((event) => (event.type === "item_end" ? [event.item] : []));
  return items.filter(isCall).map((call) => {
    const at = ends.findIndex(({ call_id }) => call_id === call.call_id);
    const [end] = at < 0 ? [] : ends.splice(at, 1);
    if (end?.item.type !== "function_call_output") return { call, result: undefined };
    const { item, failed } = end;
    const own = decisions.filter(({ call_id }) => call_id === call.call_id);
    return { call, result: { output: item.output, failed, decisions: own } };
  });
}

function isCall(item: Item): item is FunctionCall {
  return item.type === "function_call";
}
