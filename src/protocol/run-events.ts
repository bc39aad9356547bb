/**
 * The log of a run. Everything that is shown, stored, resumed or billed is a fold of these events.
 *
 * Order: one `run_start` (and `run_begin`, if it had to wait); turns of `turn_start`, the model's events
 * and `turn_end`, each followed by its calls' `tool_start`, `tool_decision` and `tool_end` (calls overlap),
 * by messages of people (`run_input`), and by a shortened conversation (`compaction`); exactly one
 * `run_end`, and nothing after. A call has one decision, and a second one if it was allowed and a guard
 * then stopped it; if a person was asked, a `tool_question` comes first. A turn interrupted by a crash has
 * no `turn_end`: a `run_resume` follows, its open items are `incomplete`, and the turn starts again under
 * the same number.
 */

import type { FailureCode } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { ChildNews } from "./child-news.ts";
import type { ChildQueue } from "./child-queue.ts";
import type { FileEvent } from "./file-changes.ts";
import type { Item } from "./items.ts";
import type { AnsweredBy, EndReason, ModelEnd, ModelEvent, StopDetail } from "./model-events.ts";
import type { ToldPart } from "./told-part.ts";
import type { ToolProcess } from "./tool-process.ts";
import type { ToolQuestion } from "./tool-question.ts";
import type { Usage } from "./usage.ts";

/**
 * Every way a run can end, with the exit code of its command. All except `completed` are partial or empty,
 * and never shown as complete. A failed run exits with the code of its failure.
 */
export const ENDINGS = {
  completed: { exit: 0, summary: "The model gave its answer." },
  max_turns: { exit: 3, summary: "The turn limit was reached; the output is partial." },
  budget: { exit: 4, summary: "A token or money limit was reached; the output is partial." },
  refused: { exit: 5, summary: "The model or its vendor declined to answer." },
  timeout: { exit: 124, summary: "The run's time limit passed; the output is partial." },
  cancelled: { exit: 130, summary: "The user cancelled the run; the output is partial." },
  failed: { exit: 1, summary: "Something broke; the error says what." },
} as const;
export type Ending = keyof typeof ENDINGS;

export type RunEvent =
  | RunStart
  | RunBegin
  | RunResume
  | TurnStart
  | Exclude<ModelEvent, ModelEnd>
  | TurnEnd
  | ToolStart
  | ToolQuestion
  | ToolDecision
  | ToolProcess
  | ToolProgress
  | FileEvent
  | ToolEnd
  | ChildQueue
  | ChildStart
  | ChildEnd
  | ChildBudget
  | ChildNews
  | ChildEvent
  | ClientInput
  | ClientRefusal
  | RunInput
  | RunCompaction
  | Notice
  | RunEnd;

export interface RunStart {
  readonly type: "run_start";
  readonly run_id: string;
  readonly parent_id: string | null;
  /** `/root`, `/root/research`: who delegated to whom. */
  readonly path: string;
  readonly created_at_ms: number;
  /** The settings that the run really works with, and why that model was chosen. */
  readonly settings: RunSettings;
  readonly input: readonly Item[];
}

export interface RunSettings {
  /** `vendor/model`. */
  readonly model: string;
  readonly model_reason: string;
  readonly instructions: string | null;
  readonly tools: readonly string[];
  readonly max_turns: number;
  readonly temperature: number | null;
  readonly max_output_tokens: number | null;
  readonly think: boolean;
  /** How much, if not as usual. Old records do not have it. */
  readonly effort?: string;
  readonly format: JsonObject;
  /** The handling of calls that need approval: `ask`, `auto`, `deny`. */
  readonly approve: string;
  /** The isolation of the commands it runs: `none`, `process`, `sandbox`. */
  readonly sandbox: string;
  /** The grant of the run: one layer for itself and for each run above it. */
  readonly grant: readonly JsonObject[];
  /** The limits of the run with everything below it, by kind; null if unlimited. */
  readonly limits: JsonObject;
  readonly label: string | null;
  readonly depth: number;
  /** Options of the vendor that its model calls have, from the settings and from the request. */
  readonly options?: JsonObject | undefined;
  /** The parameters of a request of the Responses API, as the answer repeats them. Other runs have none. */
  readonly response?: JsonObject | undefined;
  /** The session that it belongs to; missing if it belongs to none. */
  readonly session?: string | undefined;
  /** The parts of `instructions`, in order; missing if they were given as a whole. */
  readonly told?: readonly ToldPart[] | undefined;
}

/** A run that had to wait for its turn begins. A run that did not wait has no such event. */
export interface RunBegin {
  readonly type: "run_begin";
  readonly at_ms: number;
}

/** Another process continues the run; everything that was open before it is `incomplete`. */
export interface RunResume {
  readonly type: "run_resume";
  readonly epoch: number;
  readonly at_ms: number;
}

export interface TurnStart {
  readonly type: "turn_start";
  /** From 1. */
  readonly turn: number;
  readonly at_ms: number;
}

export interface TurnEnd {
  readonly type: "turn_end";
  readonly turn: number;
  readonly reason: EndReason;
  readonly usage: Usage;
  /** Null when the model's price is unknown, which is not the same as free. */
  readonly cost_usd: number | null;
  /** The deployment that answered, if the model's name stands for several; otherwise missing. */
  readonly by?: AnsweredBy | undefined;
  /** Details of the ending that the vendor gives besides its reason; otherwise missing. */
  readonly stop?: StopDetail | undefined;
  readonly at_ms: number;
}

export interface ToolStart {
  readonly type: "tool_start";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly at_ms: number;
}

/** Who or what decided whether a call may run, one line each. */
export const DECIDERS = {
  tool: "There is no tool of that name.",
  arguments: "The arguments do not fit the tool.",
  grant: "The run was not granted it.",
  rule: "A rule of the settings matches the call.",
  effect: "What the call does needs no question.",
  mode: "`--approve auto` or `--approve deny` answers the question.",
  person: "The user was asked and decided.",
  nobody: "It needs approval, and no answer came: there is no terminal, or the wait was over.",
  pin: "The tool is not the one that was approved.",
  budget: "The run has no tool calls left.",
  hook: "A hook of the user's settings denied it.",
  guard: "The tool's own guard refused a path, an address or a redirect.",
} as const;
export type DecidedBy = keyof typeof DECIDERS;

/** Written before the call runs. */
export interface ToolDecision {
  readonly type: "tool_decision";
  readonly call_id: string;
  readonly name: string;
  readonly verdict: "allow" | "deny";
  readonly by: DecidedBy;
  /** The rule that decided, or that asked: `deny shell(rm *)`; null if none did. */
  readonly rule: string | null;
  /** The file or flag that contains the rule. */
  readonly source: string | null;
  /** The reason, for a person. */
  readonly reason: string;
  /** The isolation of its commands. */
  readonly sandbox: string;
  /** The `tool_question` that it closes; missing if no person was asked. */
  readonly question?: string | undefined;
  /** The key of the message that answered, if the answer came from another process. */
  readonly answer?: string | undefined;
  /** The hook that denied it; missing if none did. */
  readonly hook?: string | undefined;
  readonly at_ms: number;
}

/** Progress of a call while it runs: an event of the Responses API without its position and number. */
export interface ToolProgress {
  readonly type: "tool_progress";
  readonly call_id: string;
  readonly event: JsonObject;
}

export interface ToolEnd {
  readonly type: "tool_end";
  readonly call_id: string;
  readonly name: string;
  /** The item that goes back to the model. */
  readonly item: Item;
  /**
   * The items that the conversation has in its place, if a server shows the call as an item of its own:
   * that item, finished, and those that follow it.
   */
  readonly shown?: readonly Item[] | undefined;
  /** True if the text says what went wrong instead of giving a result. */
  readonly failed: boolean;
  readonly at_ms: number;
}

/** A child was ordered: written before its first prompt, between its call's start and end. */
export interface ChildStart {
  readonly type: "child_start";
  /** The call that asked for it. */
  readonly call_key: string;
  readonly child_id: string;
  readonly label: string;
  readonly depth: number;
  /** The settings that were asked for, and those that the child really has. */
  readonly requested: JsonObject;
  readonly effective: JsonObject;
  readonly at_ms: number;
}

export interface ChildEnd {
  readonly type: "child_end";
  readonly child_id: string;
  readonly label: string;
  readonly ending: Ending;
  readonly message: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly cost_usd: number | null;
  /** True if it completed without a tool call although it had tools; otherwise missing. */
  readonly did_nothing?: boolean;
  /** True if it said nothing that its parent could use; otherwise missing. */
  readonly no_answer?: boolean;
  /** True if no call waited for its end; otherwise missing. */
  readonly background?: boolean;
  readonly at_ms: number;
}

/** An event of an agent of a team, repeated in the log of the run that started it. */
export interface ChildEvent {
  readonly type: "child_event";
  /** The run whose log has the event, and its number there, so that it is repeated once. */
  readonly child_id: string;
  readonly child_seq: number;
  /** The agent whose event it is: that run's agent, or one below it. */
  readonly agent: string;
  readonly event: Exclude<RunEvent, ChildEvent>;
}

/**
 * Answers of the client while the run continued: results of calls that the client makes itself. The agent
 * whose calls they were continues with them, before its next turn.
 */
export interface ClientInput {
  readonly type: "client_input";
  readonly agent: string;
  readonly items: readonly Item[];
  /** The event's number in the log of the team's first run, if this is another run's log. */
  readonly root_seq?: number | undefined;
  /** The key of the message that brought the answers; its sender waits for this event. */
  readonly key?: string | undefined;
  readonly at_ms: number;
}

/** Answers of the client that were refused, all of them, and why. */
export interface ClientRefusal {
  readonly type: "client_refused";
  readonly key: string;
  readonly error: RunError;
  readonly at_ms: number;
}

/**
 * Messages of people to the run while it worked, as part of its conversation: the run reads them in the
 * turn that follows. Written once, between two turns.
 */
export interface RunInput {
  readonly type: "run_input";
  readonly items: readonly Item[];
  readonly at_ms: number;
}

/**
 * The conversation became too long for the model and continues shortened: the task, a summary of what was
 * done, and the last turns. Written once, before the turn that uses it. If a vendor refused that turn as
 * too long, it ends that attempt: the turn starts again under its number.
 */
export interface RunCompaction {
  readonly type: "compaction";
  /** The turn that follows. */
  readonly turn: number;
  /** The model's own words; empty if only long results of the last turn were shortened. */
  readonly summary: string;
  /** How many items the summary replaces. */
  readonly items: number;
  /** How many of the last items follow the summary unchanged; left out by older versions. */
  readonly kept?: number | undefined;
  /** The size of the conversation, as far as it is known, and the estimated size after it. */
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Usage of the summary. It is not a turn, but counts in the run's usage and cost. */
  readonly usage: Usage;
  readonly cost_usd: number | null;
  readonly at_ms: number;
}

/** Something that the user should know and that is not output: a retry, a wait, a dropped parameter. */
export interface Notice {
  readonly type: "notice";
  readonly code:
    | "retry"
    | "fallback"
    | "wait"
    | "replay"
    | "dropped"
    | "cost"
    | "repair"
    | "context"
    | "report"
    | "unread"
    | "process"
    | "background"
    | "hook";
  readonly message: string;
  /** The parameters that it is about, as requests spell them: `top_p`, `reasoning.effort`. */
  readonly params?: readonly string[];
}

export interface RunEnd {
  readonly type: "run_end";
  readonly ending: Ending;
  /** The reason for the ending, for a person; empty when it completed. */
  readonly message: string;
  /** The text of the last turn. After a limit it is partial, and `ending` says so. */
  readonly output_text: string;
  /** True if it ended because the client, or another agent, has to answer its calls; otherwise missing. */
  readonly waits?: true | undefined;
  /** The validated document, when one was asked for and the run completed. */
  readonly output_json: Json | undefined;
  readonly error: RunError | null;
  readonly turns: number;
  readonly tool_calls: number;
  readonly usage: Usage;
  readonly cost_usd: number | null;
  /** The spending of the run and everything below it, by kind. */
  readonly spent: JsonObject;
  /** The deployment that gave the last answer, if the model's name stands for several. */
  readonly by?: AnsweredBy | undefined;
  /** Details of the last answer's ending that the vendor gives besides its reason; otherwise missing. */
  readonly stop?: StopDetail | undefined;
  readonly at_ms: number;
}

export interface RunError {
  readonly code: FailureCode;
  readonly message: string;
  /** The field of the request at fault, if there is one. */
  readonly param?: string | undefined;
}

/** A run event with its position in its run's log. */
export interface LoggedEvent {
  readonly run_id: string;
  /** From 0, without gaps. */
  readonly seq: number;
  readonly event: RunEvent;
}

/**
 * New limits of a child that may run in any process and asked for more budget: what it may spend from now
 * on, in all.
 */
export interface ChildBudget {
  readonly type: "child_budget";
  readonly child_id: string;
  /** Limits by kind; null if its parent does not limit it. */
  readonly limits: JsonObject;
  readonly at_ms: number;
}
