/**
 * What the API of runs answers with, as types: `src/server/routes/runs.ts` and its neighbours send these objects as
 * they are, and whoever writes a client may import the types. Times are milliseconds since 1970; ids of runs below
 * others contain slashes, so they are escaped in addresses (`encodeURIComponent`).
 */

import type { Json, JsonObject } from "../../base/json.ts";
import type { Ending } from "../../protocol/run-events.ts";

/** One page of a list. `next` is given as `after` for the page that follows; null at the end. */
export interface Page<Row> {
  readonly object: "list";
  readonly data: readonly Row[];
  readonly next: string | null;
}

/** What a run and everything below it used, from the rows of usage alone. */
export interface Totals {
  /** Model calls. */
  readonly calls: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  /** Null where the price of some call is not known; `known_usd` is what is known. */
  readonly cost_usd: number | null;
  readonly known_usd: number;
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
  /** `waiting` while a question of it, or of one below it, waits for an answer. */
  readonly status: "running" | "waiting" | "ended";
  readonly ending: Ending | null;
  /** Why it ended so, cut short; empty where it completed or has not ended. */
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
  /** Of its own, without those below it. */
  readonly turns: number;
  readonly tool_calls: number;
  /** Open questions. */
  readonly questions: number;
  readonly totals: Totals;
}

/** One run. */
export interface RunDetail extends RunView {
  /** Where it stands among its tree: `/root/review-1.0`. */
  readonly path: string;
  /** How many events its log has: events are numbered from 0. */
  readonly events: number;
  /** How many processes have worked on it. */
  readonly attempts: number;
  /** Whether a living process works on it; false for one that can be resumed, and for one that has ended. */
  readonly is_held: boolean;
  /** Its first event (`run_start`: settings, instructions, input); null before there is one. */
  readonly start: EventView | null;
  /** Its last event (`run_end`: output, error); null while it runs. */
  readonly end: EventView | null;
}

/** An event of a log. Deltas of one item that follow each other are one event with all of their text. */
export interface EventView {
  readonly seq: number;
  /** The number of the last event that is in it; `seq` but for joined deltas. */
  readonly last_seq: number;
  readonly type: string;
  /** Null for an event without a time. */
  readonly at_ms: number | null;
  readonly event: JsonObject;
  /** What was left out of it because it is large; empty for most. */
  readonly clipped: readonly Clipped[];
}

export interface Clipped {
  /** A JSON Pointer into `event`: `/item/output`. */
  readonly path: string;
  /** How long the text is there in full, in characters; of a list, how many entries it has. */
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
  /** Of the whole tree, now. */
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
 * child that has left no record (`child`). `status`: `open`, `ok`, `failed`, `denied`, `cut`; of a run `running`,
 * `waiting` or its ending. `by` is who decided about a call.
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
  /** Its name in its run: an answer names it. */
  readonly question: string;
  readonly call_id: string;
  readonly tool: string;
  /** As the model wrote them: JSON as text. */
  readonly arguments: string;
  readonly effect: string;
  readonly reason: string;
  readonly sandbox: string;
  /** The rules that `always` stands for. */
  readonly always: readonly string[];
  /** The subagent that asks; null for the run that a person started. */
  readonly asker: Json;
  /** The change that the call would make, as a unified diff, where its arguments say it; else null. */
  readonly diff: string | null;
  /** What the run is about. */
  readonly title: string;
  readonly at_ms: number;
  readonly until_ms: number | null;
  /** Null while it waits. */
  readonly closed_at_ms: number | null;
  /** What was decided, and why; null while it waits, and where its asker is gone. */
  readonly verdict: "allow" | "deny" | null;
  readonly decided: string | null;
}

export interface AnsweredView {
  readonly object: "run.answer";
  readonly run_id: string;
  readonly question: string;
  /** `left`: no process works on the run now; it takes the answer when it goes on. */
  readonly outcome: "taken" | "left";
}

export interface UsageView {
  readonly object: "usage";
  readonly by: string;
  readonly from: string;
  readonly to: string;
  readonly data: readonly UsageRowView[];
}

export interface UsageRowView extends Totals {
  /** Null where days are not told apart. */
  readonly day: string | null;
  /** Null for what has none. */
  readonly key: string | null;
  readonly reasoning_tokens: number;
  readonly unpriced_calls: number;
  readonly seconds: number;
}

export interface ToolsView {
  readonly object: "tools";
  readonly from: string;
  readonly to: string;
  readonly data: readonly ToolView[];
}

export interface ToolView {
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
  readonly denied: number;
  readonly seconds: number;
  readonly max_seconds: number;
  readonly last_at_ms: number;
}

/** A tool call that failed or was denied. */
export interface FailedCallView {
  readonly object: "call";
  readonly run_id: string;
  readonly root_id: string;
  /** The event that opened it. */
  readonly seq: number;
  readonly tool: string;
  readonly status: "failed" | "denied";
  /** Who decided about it, and what that means. */
  readonly decided_by: string | null;
  readonly about: string | null;
  /** Of a denied one: the rule, and why. */
  readonly rule: string | null;
  readonly reason: string | null;
  readonly at_ms: number;
  readonly ended_at_ms: number | null;
  /** Of the run that made it. */
  readonly title: string;
  readonly label: string | null;
}

/** A frame of `GET /v1/watch`: something has changed. */
export interface WatchFrame {
  /** Another text where a list of runs may look different. */
  readonly runs: string;
  /** Open questions. */
  readonly questions: number;
}

/** Two runs side by side: what they were given, their turns and their calls, aligned by name and order. */
export interface Comparison {
  readonly object: "run.comparison";
  readonly a: RunView;
  readonly b: RunView;
  readonly rows: readonly ComparedRow[];
  /** The place in `rows` of the first that is not the same; null where there is none. */
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
  /** Null where the logs are the same, and where a change was asked for. */
  readonly divergence: JsonObject | null;
  readonly ending: Ending;
  readonly output_text: string;
  /** The run that was changed, or the whole one: as it was recorded, and as it went this time. */
  readonly rows: readonly ComparedRow[];
  readonly first_difference: number | null;
}

/** A conversation that goes on over several runs. */
export interface SessionView {
  readonly object: "session";
  readonly id: string;
  readonly title: string;
  readonly folder: string | null;
  readonly created_at_ms: number;
  readonly used_at_ms: number;
  /** The oldest first. */
  readonly runs: readonly string[];
  /** The session that it was made of, and up to which turn. */
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
