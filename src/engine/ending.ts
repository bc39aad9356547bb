/**
 * Endings that the engine writes itself: for a body that threw, and, read from the store, for a run that has ended.
 */

import { Failure, toFailure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { Ending, RunEnd } from "../protocol/run-events.ts";
import type { RunStatus } from "../protocol/run-record.ts";
import { NO_USAGE } from "../protocol/usage.ts";
import type { RunReader } from "../store/run-reader.ts";
import type { RunOutcome } from "./engine.ts";

/** The part of an unwritten outcome that stays true: what it has used, and which key pays. */
export interface UsedByRun extends Pick<RunOutcome, "settles" | "onEnded"> {
  readonly counts?: Pick<RunEnd, "turns" | "tool_calls" | "usage" | "cost_usd" | "spent">;
}

export function toUsedByRun({ events, settles, onEnded }: RunOutcome): UsedByRun {
  const end = events.find((event) => event.type === "run_end");
  if (!end) return { settles, onEnded };
  const { turns, tool_calls, usage, cost_usd, spent } = end;
  return { counts: { turns, tool_calls, usage, cost_usd, spent }, settles, onEnded };
}

interface FailedRun {
  readonly signal: AbortSignal;
  readonly atMs: number;
  readonly used?: UsedByRun | undefined;
}

/** The ending of a body that threw. The signal's reason explains it better than what was thrown. */
export function toFailedOutcome(
  thrown: unknown,
  { signal, atMs, used: { counts, ...paid } = {} }: FailedRun,
): RunOutcome {
  const failure = toFailure(signal.aborted ? signal.reason : thrown);
  const ending = signal.aborted ? endingOf(failure) : "failed";
  const end: RunEnd = {
    type: "run_end",
    ending,
    message: failure.message,
    output_text: "",
    output_json: undefined,
    error: { code: failure.code, message: failure.message },
    turns: 0,
    tool_calls: 0,
    usage: NO_USAGE,
    cost_usd: null,
    spent: {},
    at_ms: atMs,
    ...counts,
  };
  return { ending, result: null, events: [end], ...paid };
}

/** The outcome of a run that asks no model: it is done, or `error` says why it is not. */
export function toQuietOutcome(
  atMs: number,
  error: Pick<Failure, "code" | "message"> | null = null,
  result: Json = null,
): RunOutcome {
  const ending = error ? "failed" : "completed";
  const none = { output_text: "", output_json: null, turns: 0, tool_calls: 0, usage: NO_USAGE };
  const cost = { cost_usd: 0, spent: {}, at_ms: atMs };
  const message = error?.message ?? "";
  return {
    ending,
    result,
    events: [{ type: "run_end", ending, message, error, ...none, ...cost }],
  };
}

function endingOf({ code }: Failure): Ending {
  return code === "cancelled" || code === "timeout" ? code : "failed";
}

/**
 * The outcome of a run that has ended. Its only event is `run_end`, for every caller and at every time: a parent that is
 * replayed must be told the same as before.
 */
export async function readOutcome(store: RunReader, run: RunStatus): Promise<RunOutcome> {
  const last = await store.readEvents(run.id, run.next_seq - 2, 1);
  const events = last.map(({ event }) => event).filter(({ type }) => type === "run_end");
  const result = (await store.getRun(run.id))?.result ?? null;
  return { ending: run.ending ?? "failed", result, events };
}

export function toEnded({ id, ending }: RunStatus): Failure {
  return new Failure("conflict", `Run ${id} has ended already: ${ending ?? "unknown"}.`);
}

export function toAbandoned(id: string): Failure {
  return new Failure("conflict", `Run ${id} is not running: its process is gone. Resume it first.`);
}

/** `known`: the newest version of journals that this program knows. */
export function toNewerJournal({ id, journal }: RunStatus, known: number): Failure {
  const message = `Run ${id} was written by a newer Offshoot (journal version ${journal}, this one knows ${known}): update Offshoot, or resume it with that version.`;
  return new Failure("conflict", message);
}

export function toStopped(): Failure {
  return new Failure("cancelled", "This process stops; its unfinished runs can be resumed.");
}
