/**
 * The answers of the API of runs, as types: `src/server/routes/runs.ts` and its neighbours send these objects
 * unchanged, and clients may import the types. Times are milliseconds since 1970; ids of runs below others contain
 * slashes, so they are escaped in addresses (`encodeURIComponent`).
 */

import type { Json, JsonObject } from "../../base/json.ts";
import type { Ending } from "../../protocol/run-events.ts";
import type { UsageTotals } from "./usage-views.ts";

/** One page of a list. `next` is given as `after` for the page that follows; null at the end. */
export interface RecordPage<Row> {
  readonly object: "list";
  readonly data: readonly Row[];
  readonly next: string | null;
}

/** A run in a list. */
export interface RunView {
  readonly object: "run";
  readonly id: string;
  readonly root_id: string;
  readonly parent_id: string | null;
  readonly title: string;
  /** `agent` for runs of the command line and subagents, `response` for answers of the server, `index` for files. */
  readonly kind: string;
  /** `waiting` while a question of it, or of a run below it, waits for an answer. */
  readonly status: "running" | "waiting" | "ended";
  readonly ending: Ending | null;
  /** Why it ended so, cut short; empty if it completed or has not ended. */
  readonly message: string;
  readonly created_at_ms: number;
  readonly ended_at_ms: number | null;
  readonly model: string | null;
  readonly label: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  readonly folder: string | null;
  readonly tenant: string;
  readonly key_id: string | null;
  /** The run's own turns, without those below it. */
  readonly turns: number;
  readonly tool_calls: number;
  /** Open questions. */
  readonly questions: number;
  readonly totals: UsageTotals;
}

/** One run. */
export interface RunDetail extends RunView {
  /** The run's position in its tree: `/root/review-1.0`. */
  readonly path: string;
  /** How many events its log has: events are numbered from 0. */
  readonly events: number;
  /** How many processes have worked on it. */
  readonly attempts: number;
  /** True if a living process works on it; false for a run that can be resumed, and for one that has ended. */
  readonly is_held: boolean;
  /** The run's first event (`run_start`: settings, instructions, input); null before there is one. */
  readonly start: EventView | null;
  /** The run's last event (`run_end`: output, error); null while it runs. */
  readonly end: EventView | null;
}

/** An event of a log. Consecutive deltas of one item are one event with all of their text. */
export interface EventView {
  readonly seq: number;
  /** The number of the last event in it; the same as `seq` except for joined deltas. */
  readonly last_seq: number;
  readonly type: string;
  /** Null for an event without a time. */
  readonly at_ms: number | null;
  readonly event: JsonObject;
  /** The texts that were left out because they are large; empty for most. */
  readonly clipped: readonly Clipped[];
}

export interface Clipped {
  /** A JSON Pointer into `event`: `/item/output`. */
  readonly path: string;
  /** The length of the full text, in characters; for a list, the number of its entries. */
  readonly length: number;
  readonly kind: "text" | "list";
}

/** A piece of a long text of an event. */
export interface TextPiece {
  readonly object: "run.text";
  readonly text: string;
  readonly from: number;
  /** Where the next piece begins; null at the end. */
  readonly next: number | null;
  readonly length: number;
}

/** A piece of the skeleton of a tree, in pre-order. Each row has its values in the order of `fields`. */
export interface TreePiece {
  readonly object: "run.tree";
  readonly fields: typeof TREE_FIELDS;
  readonly rows: readonly TreeRow[];
  /** How many nodes the whole tree has now. */
  readonly nodes: number;
  readonly next: string | null;
}

export const TREE_FIELDS = [
  "id",
  "parent",
  "depth",
  "kind",
  "name",
  "start_ms",
  "end_ms",
  "input_tokens",
  "output_tokens",
  "cost_usd",
  "status",
  "by",
] as const;

/**
 * `id` is that of a run, or `RUN:SEQ` for a model call (`turn`), a tool call (`call`), a summary (`compaction`) or a
 * child that has left no record (`child`). `status`: `open`, `ok`, `failed`, `denied`, `cut`; for a run `running`,
 * `waiting` or its ending. `by` says who decided about a call.
 */
export type TreeRow = readonly [
  id: string,
  parent: string | null,
  depth: number,
  kind: "run" | "turn" | "call" | "compaction" | "child",
  name: string | null,
  start_ms: number,
  end_ms: number | null,
  input_tokens: number | null,
  output_tokens: number | null,
  cost_usd: number | null,
  status: string,
  by: string | null,
];

/** A frame of a stream that follows a run, or with `tree=true` a whole tree. */
export interface FollowFrame {
  readonly run_id: string;
  readonly events: readonly EventView[];
}

/** A call that waits for a person's answer. */
export interface QuestionView {
  readonly object: "run.question";
  readonly run_id: string;
  readonly root_id: string;
  /** The question's name in its run: an answer names it. */
  readonly question: string;
  readonly call_id: string;
  readonly tool: string;
  /** The arguments as the model wrote them: JSON as text. */
  readonly arguments: string;
  readonly effect: string;
  readonly reason: string;
  readonly sandbox: string;
  /** The rules that `always` would add. */
  readonly always: readonly string[];
  /** The subagent that asks; null for the run that a person started. */
  readonly asker: Json;
  /** The change that the call would make, as a unified diff, if its arguments contain it; otherwise null. */
  readonly diff: string | null;
  /** The title of the run. */
  readonly title: string;
  readonly at_ms: number;
  readonly until_ms: number | null;
  /** Null while it waits. */
  readonly closed_at_ms: number | null;
  /** The decision; null while the question waits, and if its run is gone. */
  readonly verdict: "allow" | "deny" | null;
  readonly decided: string | null;
}

export interface AnsweredView {
  readonly object: "run.answer";
  readonly run_id: string;
  readonly question: string;
  /** `left`: no process works on the run now; it takes the answer when it continues. */
  readonly outcome: "taken" | "left";
}

/** A frame of `GET /v1/watch`: something has changed. */
export interface WatchFrame {
  /** Changes when a list of runs may look different. */
  readonly runs: string;
  /** Open questions. */
  readonly questions: number;
}

/** A comparison of two runs: their starts, their turns and their calls, aligned by name and order. */
export interface Comparison {
  readonly object: "run.comparison";
  readonly a: RunView;
  readonly b: RunView;
  readonly rows: readonly ComparedRow[];
  /** The index in `rows` of the first difference; null if there is none. */
  readonly first_difference: number | null;
}

export interface ComparedRow {
  readonly kind: "input" | "turn" | "call" | "ending";
  readonly name: string;
  readonly state: "same" | "different" | "only_a" | "only_b";
  readonly a: ComparedSide | null;
  readonly b: ComparedSide | null;
}

export interface ComparedSide {
  /** The event that it was read from. */
  readonly seq: number;
  /** The beginning of it, for a person. */
  readonly text: string;
}

export interface ReplayView {
  readonly object: "run.replay";
  readonly runs: number;
  readonly left: readonly { readonly path: string; readonly what: string }[];
  /** Null if the logs are the same, and if a change was asked for. */
  readonly divergence: JsonObject | null;
  readonly ending: Ending;
  readonly output_text: string;
  /** The run that was changed, or the whole tree: as it was recorded, and as it went this time. */
  readonly rows: readonly ComparedRow[];
  readonly first_difference: number | null;
}

/** A conversation that continues over several runs. */
export interface SessionView {
  readonly object: "session";
  readonly id: string;
  readonly title: string;
  readonly folder: string | null;
  readonly created_at_ms: number;
  readonly used_at_ms: number;
  /** The oldest first. */
  readonly runs: readonly string[];
  /** The session that it was forked from, and up to which turn. */
  readonly forked_from: object | null;
}

export interface SessionDetail extends SessionView {
  /** The last 200; long texts are cut. */
  readonly turns: readonly {
    readonly turn: number;
    readonly prompt: string | null;
    readonly text: string;
    readonly calls: readonly string[];
  }[];
  readonly turn_count: number;
}
