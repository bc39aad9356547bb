/** A run as its log has it, ready to be replayed: its turns, and what its calls returned. Pure. */

import { Failure } from "../../base/failure.ts";
import { findAbandoned } from "../../protocol/abandoned-work.ts";
import type { FunctionCall, FunctionCallOutput, Item } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type {
  LoggedEvent,
  RunCompaction,
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
  /** The turns that ended, by their numbers, from 1. */
  readonly turns: readonly RecordedTurn[];
  /** The messages of people before a turn, by its number. */
  readonly inputs: ReadonlyMap<number, readonly Item[]>;
  /** How its conversation was compacted before a turn, by its number. */
  readonly compactions: ReadonlyMap<number, readonly RunCompaction[]>;
  /** The turn in the middle of which the run ended. */
  readonly broken: BrokenTurn | undefined;
  readonly end: RunEnd | undefined;
  /** Without what a takeover abandoned. */
  readonly log: readonly LoggedEvent[];
}

export interface RecordedTurn {
  readonly number: number;
  /** The recorded model events. */
  readonly said: readonly ModelEvent[];
  readonly end: TurnEnd;
  /** The calls in the model's order. */
  readonly calls: readonly RecordedCall[];
}

/** A turn that brought no answer: the vendor refused, or the run was cancelled meanwhile. */
export interface BrokenTurn {
  readonly number: number;
  readonly said: readonly ModelEvent[];
  readonly failure: Failure;
}

export interface RecordedCall {
  readonly call: FunctionCall;
  /** Undefined if the run ended before the call returned. */
  readonly result: RecordedResult | undefined;
}

export interface RecordedResult {
  readonly output: FunctionCallOutput["output"];
  readonly failed: boolean;
  /** True if it ended the run. */
  readonly thrown: boolean;
  readonly decisions: readonly ToolDecision[];
}

/** Undefined for a run that ended before it began. */
export function readRecordedRun(
  id: string,
  path: string,
  log: readonly LoggedEvent[],
): RecordedRun | undefined {
  const abandoned = findAbandoned(log.map(({ event }) => event));
  const kept = log.filter((_, at) => !abandoned.has(at));
  const events = kept.map(({ event }) => event);
  const [start] = events;
  if (start?.type !== "run_start") return undefined;
  const end = events.findLast((event): event is RunEnd => event.type === "run_end");
  const turns = readTurns(events, end);
  const inputs = readInputs(events);
  const compactions = readCompactions(events);
  const broken = readBroken(events, end);
  return { id, path, start, turns, inputs, compactions, broken, end, log: kept };
}

/** The failure that ended a run, to be thrown again. A run whose process died has no end: its parent reports it. */
export function toRecordedFailure(end: RunEnd | undefined): Failure {
  if (!end) return new Failure("internal", "Its process ended before it did.");
  const { ending, error, message } = end;
  if (error) return new Failure(error.code, error.message, { param: error.param });
  return new Failure(ending === "budget" ? "budget_exceeded" : "internal", message);
}

function readBroken(events: readonly RunEvent[], end: RunEnd | undefined): BrokenTurn | undefined {
  const at = events.findLastIndex(({ type }) => type === "turn_start");
  const start = events[at];
  const after = events.slice(at + 1);
  if (start?.type !== "turn_start" || after.some(({ type }) => type === "turn_end")) {
    return undefined;
  }
  const said = after.filter((event) => event.type !== "run_end").filter(isSaid);
  // A report that failed does not change the run's ending; a notice says what was wrong.
  const report = after.find((event) => event.type === "notice" && event.code === "report");
  const failure =
    report?.type === "notice" ? new Failure("internal", report.message) : toRecordedFailure(end);
  return { number: start.turn, said, failure };
}

function readTurns(events: readonly RunEvent[], runEnd: RunEnd | undefined): RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  for (const [at, event] of events.entries()) {
    if (event.type !== "turn_end") continue;
    const begin = events.findLastIndex(
      (one, place) => place < at && one.type === "turn_start" && one.turn === event.turn,
    );
    const said = events.slice(begin, at).filter(isSaid);
    const after = events.slice(at + 1);
    const next = after.findIndex(({ type }) => type === "turn_start");
    const results = next < 0 ? after : after.slice(0, next);
    const calls = readCalls(said, results, runEnd);
    turns.push({ number: event.turn, said, end: event, calls });
  }
  return turns;
}

/** A message that no turn followed was for the next turn, too. */
function readInputs(events: readonly RunEvent[]): Map<number, readonly Item[]> {
  const inputs = new Map<number, readonly Item[]>();
  let turn = 0;
  for (const event of events) {
    if (event.type === "turn_start") turn = event.turn;
    if (event.type === "run_input") inputs.set(turn + 1, event.items);
  }
  return inputs;
}

function readCompactions(events: readonly RunEvent[]): Map<number, readonly RunCompaction[]> {
  const compactions = new Map<number, readonly RunCompaction[]>();
  for (const event of events) {
    if (event.type !== "compaction") continue;
    compactions.set(event.turn, [...(compactions.get(event.turn) ?? []), event]);
  }
  return compactions;
}

/** Events that are not words of the model: a turn's log has them between its start and its end. */
const OURS: ReadonlySet<string> = new Set(["turn_start", "notice", "run_resume", "child_end"]);

function isSaid(event: RunEvent): event is RunEvent & ModelEvent {
  return !OURS.has(event.type);
}

/** Servers give one id to several calls: of calls with the same id, the first result is the first's. */
function readCalls(
  said: readonly ModelEvent[],
  results: readonly RunEvent[],
  runEnd: RunEnd | undefined,
): RecordedCall[] {
  const ends = results.filter((event) => event.type === "tool_end");
  const decisions = results.filter((event) => event.type === "tool_decision");
  const items = said.flatMap((event) => (event.type === "item_end" ? [event.item] : []));
  return items.filter(isCall).map((call) => {
    const at = ends.findIndex(({ call_id }) => call_id === call.call_id);
    const [end] = at < 0 ? [] : ends.splice(at, 1);
    if (end?.item.type !== "function_call_output") return { call, result: undefined };
    const { item, failed } = end;
    const own = decisions.filter(({ call_id }) => call_id === call.call_id);
    const { error } = runEnd ?? {};
    const thrown = error?.code === "tool_failed" && error.message === item.output;
    return { call, result: { output: item.output, failed, thrown, decisions: own } };
  });
}

function isCall(item: Item): item is FunctionCall {
  return item.type === "function_call";
}
