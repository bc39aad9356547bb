/**
 * Rows that a record writes beside the log of a run, so that listing runs, adding up costs and finding open questions
 * need no logs: one row of facts for each run, one span for each model call, tool call and child, one row of usage for
 * each model call that ended, one row for each question. The store writes them in the transaction of the events that
 * they are made from (`toNotes`), and the migration makes those of older runs from their logs by the same function.
 *
 * Pure. The notes of a batch are applied in order: by SQL of SQLite and of Postgres, and in memory.
 */

import { asJsonObject, isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import { clip, cutToChars } from "../base/text.ts";
import type {
  RunCompaction,
  RunEnd,
  RunEvent,
  ToolDecision,
  TurnEnd,
} from "../protocol/run-events.ts";
import type { ToolQuestion } from "../protocol/tool-question.ts";
import type { Usage } from "../protocol/usage.ts";

/** The facts of a run from its task. A child without a key has its parent's. */
export interface TaskFacts {
  readonly model: string | null;
  readonly label: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  /** Where its tools work. */
  readonly folder: string | null;
  readonly key_id: string | null;
}

export interface NotedUsage {
  readonly day: string;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  /** Null if the price is not known. */
  readonly usd: number | null;
}

export type Note =
  | { readonly note: "turn"; readonly seq: number; readonly turn: number; readonly at_ms: number }
  | ({
      readonly note: "turn_end";
      readonly seq: number;
      readonly turn: number;
      readonly at_ms: number;
      /** Which deployment answered, if the model's name stands for several. */
      readonly model: string | null;
    } & NotedUsage)
  | ({
      readonly note: "compaction";
      readonly seq: number;
      readonly turn: number;
      readonly at_ms: number;
    } & NotedUsage)
  | {
      readonly note: "call";
      readonly seq: number;
      readonly key: string;
      readonly name: string;
      readonly at_ms: number;
    }
  | {
      readonly note: "decision";
      readonly key: string;
      readonly name: string;
      readonly verdict: "allow" | "deny";
      readonly by: string;
      readonly reason: string;
      readonly question: string | null;
      readonly at_ms: number;
    }
  | {
      readonly note: "call_end";
      readonly key: string;
      readonly name: string;
      readonly failed: boolean;
      readonly at_ms: number;
    }
  | {
      readonly note: "question";
      readonly seq: number;
      readonly question: string;
      readonly until_ms: number | null;
      readonly body: JsonObject;
      readonly at_ms: number;
    }
  | {
      readonly note: "child";
      readonly seq: number;
      readonly key: string;
      readonly name: string;
      readonly under: string;
      readonly at_ms: number;
    }
  | {
      readonly note: "child_end";
      readonly key: string;
      readonly failed: boolean;
      readonly at_ms: number;
    }
  | { readonly note: "resume"; readonly at_ms: number }
  | ({
      readonly note: "end";
      readonly seq: number;
      readonly at_ms: number;
      readonly message: string;
    } & NotedUsage);

/** The events that notes are made from; most events are none of these. */
export const NOTED_EVENTS = [
  "turn_start",
  "turn_end",
  "compaction",
  "tool_start",
  "tool_question",
  "tool_decision",
  "tool_end",
  "child_start",
  "child_end",
  "run_resume",
  "run_end",
] as const satisfies readonly RunEvent["type"][];

const NOTED: ReadonlySet<string> = new Set(NOTED_EVENTS);

/** How many characters of a reason (for an ending, or a denial) a listing shows. */
const REASON_CHARS = 300;

/** The notes of a batch, in order; empty for most batches. */
export function toNotes(firstSeq: number, events: readonly RunEvent[]): Note[] {
  const notes: Note[] = [];
  for (const [at, event] of events.entries()) {
    // Most events are deltas: they cost only this check.
    if (!NOTED.has(event.type)) continue;
    const note = toNote(firstSeq + at, event);
    if (note) notes.push(note);
  }
  return notes;
}

function toNote(seq: number, event: RunEvent): Note | undefined {
  switch (event.type) {
    case "turn_start":
      return { note: "turn", seq, turn: event.turn, at_ms: event.at_ms };
    case "turn_end":
      return toTurnEnd(seq, event);
    case "compaction":
      return toCompaction(seq, event);
    case "tool_start":
      return { note: "call", seq, key: event.call_id, name: event.name, at_ms: event.at_ms };
    case "tool_question":
      return toQuestion(seq, event);
    case "tool_decision":
      return toDecision(event);
    case "tool_end": {
      const { call_id: key, name, failed, at_ms } = event;
      return { note: "call_end", key, name, failed, at_ms };
    }
    case "child_start": {
      const { child_id: key, label: name, call_key: under, at_ms } = event;
      return { note: "child", seq, key, name, under, at_ms };
    }
    case "child_end": {
      const { child_id: key, ending, at_ms } = event;
      return { note: "child_end", key, failed: ending !== "completed", at_ms };
    }
    case "run_resume":
      return { note: "resume", at_ms: event.at_ms };
    case "run_end":
      return toEnd(seq, event);
    default:
      return undefined;
  }
}

function toTurnEnd(seq: number, { turn, usage, cost_usd, by, at_ms }: TurnEnd): Note {
  const model = by?.model ?? null;
  return { note: "turn_end", seq, turn, at_ms, model, ...toNotedUsage(usage, cost_usd, at_ms) };
}

/** A compaction that only shortened results was not a model call. */
function toCompaction(seq: number, event: RunCompaction): Note | undefined {
  const { summary, turn, usage, cost_usd, at_ms } = event;
  if (summary === "") return undefined;
  return { note: "compaction", seq, turn, at_ms, ...toNotedUsage(usage, cost_usd, at_ms) };
}

function toQuestion(seq: number, { type: _, ...asked }: ToolQuestion): Note {
  const { question, until_ms, at_ms } = asked;
  return { note: "question", seq, question, until_ms, at_ms, body: asJsonObject(asked) };
}

function toDecision(event: ToolDecision): Note {
  const { call_id: key, name, verdict, by, question = null, at_ms } = event;
  const reason = clip(event.reason, REASON_CHARS);
  return { note: "decision", key, name, verdict, by, reason, question, at_ms };
}

function toEnd(seq: number, { usage, cost_usd, message, at_ms }: RunEnd): Note {
  const used = toNotedUsage(usage, cost_usd, at_ms);
  return { note: "end", seq, at_ms, message: clip(message, REASON_CHARS), ...used };
}

function toNotedUsage(usage: Usage, usd: number | null, atMs: number): NotedUsage {
  return {
    day: toDay(atMs),
    input_tokens: usage.input_tokens,
    cached_tokens: usage.input_tokens_details.cached_tokens,
    output_tokens: usage.output_tokens,
    reasoning_tokens: usage.output_tokens_details.reasoning_tokens,
    usd,
  };
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** The last result: nearly all calls are for the same day. */
let known = { number: Number.NaN, day: "" };

/** `2026-11-18`, of UTC. */
export function toDay(atMs: number): string {
  const number = Math.floor(atMs / DAY_MS);
  if (number !== known.number) {
    known = { number, day: new Date(atMs).toISOString().slice(0, 10) };
  }
  return known.day;
}

/** Reads a task as it was written; any other input has no facts. */
export function toTaskFacts(input: Json): TaskFacts {
  const task = isJsonObject(input) ? input : {};
  const { response, session } = task;
  return {
    model: textOf(task["model"]),
    label: textOf(task["label"]),
    agent: textOf(task["agent"]),
    session: isJsonObject(session) ? textOf(session["id"]) : clientSessionIn(response),
    folder: textOf(task["root"]),
    key_id: isJsonObject(response) ? textOf(response["key_id"]) : null,
  };
}

/**
 * The session of the client that sent a request (`metadata.client_session`), under a name that no session of ours has:
 * each of its requests brings the whole conversation, so there is nothing to continue.
 */
function clientSessionIn(response: Json | undefined): string | null {
  const echo = isJsonObject(response) ? response["echo"] : undefined;
  const metadata = isJsonObject(echo) ? echo["metadata"] : undefined;
  const id = isJsonObject(metadata) ? textOf(metadata["client_session"]) : null;
  return id === null ? null : `client:${id}`;
}

function textOf(value: Json | undefined): string | null {
  return typeof value === "string" && value !== "" ? cutToChars(value, MAX_FACT_CHARS) : null;
}

/** A label is a model's text, and a row of facts must be short. */
const MAX_FACT_CHARS = 500;

/** The run that a person or a request started: ids of runs below it begin with its id. */
export function rootOf(id: string): string {
  const slash = id.indexOf("/");
  return slash < 0 ? id : id.slice(0, slash);
}
