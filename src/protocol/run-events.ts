/**
 * The log of a run. Everything that is shown, stored, resumed or billed is a fold of these events.
 *
 * Order: one `run_start` (and `run_begin`, where it had to wait); turns of `turn_start`, the model's events and `turn_end`, each followed by
 * its calls' `tool_start`, `tool_decision` and `tool_end` (calls overlap), and by what people said
 * meanwhile (`run_input`), and by what the conversation is in short (`compaction`); exactly one `run_end`, and nothing after. A call has one decision, and one more where it was let in and a guard stopped it;
 * a `tool_question` before it, where a person was asked.
 * A turn cut by a crash has no `turn_end`: a `run_resume` follows, its open items are `incomplete`,
 * and the turn starts again under the same number.
 */

import type { FailureCode } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { ChildBudget } from "./child-budget.ts";
import type { ChildNews } from "./child-news.ts";
import type { FileEvent } from "./file-changes.ts";
import type { Item } from "./items.ts";
import type { AnsweredBy, EndReason, ModelEnd, ModelEvent, StopDetail } from "./model-events.ts";
import type { ToldPart } from "./told-part.ts";
import type { ToolQuestion } from "./tool-question.ts";
import type { Usage } from "./usage.ts";

/**
 * Every way a run can end, with the exit code of a command that ends so. All but `completed` are
 * partial or empty, and never shown as complete. A failed run exits with its failure's own code.
 */
export const ENDINGS = {
  completed: { exit: 0, summary: "The model gave its answer." },
  max_turns: { exit: 3, summary: "The turn limit was reached; what there is is partial." },
  budget: { exit: 4, summary: "A token or money limit was reached; what there is is partial." },
  refused: { exit: 5, summary: "The model or its vendor declined to answer." },
  timeout: { exit: 124, summary: "The run's time limit passed; what there is is partial." },
  cancelled: { exit: 130, summary: "The user cancelled it; what there is is partial." },
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
  /** What the run really works with, and why that model was taken. */
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
  readonly format: JsonObject;
  /** What is done about calls that are to be asked about: `ask`, `auto`, `deny`. */
  readonly approve: string;
  /** What holds the commands it runs: `none`, `process`, `sandbox`. */
  readonly sandbox: string;
  /** What limits it, a layer a run above it. */
  readonly grant: readonly JsonObject[];
  /** What it may spend with everything below it, by kind; null where there is no limit. */
  readonly limits: JsonObject;
  readonly label: string | null;
  readonly depth: number;
  /** Fields of the vendor's own that its model calls have, from the settings and from whoever asked. */
  readonly options?: JsonObject | undefined;
  /** What a request of the Responses API asked, as the answer repeats it. Other runs have none. */
  readonly response?: JsonObject | undefined;
  /** The session that it belongs to; not there for a run of none. */
  readonly session?: string | undefined;
  /** What `instructions` were made of, in order; not there where somebody wrote them whole. */
  readonly told?: readonly ToldPart[] | undefined;
}

/** A run that had to wait for its turn begins. One that did not wait has no such event. */
export interface RunBegin {
  readonly type: "run_begin";
  readonly at_ms: number;
}

/** Another process went on with the run; whatever was open before it is `incomplete`. */
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
  /** Who answered, where the model's name stands for several deployments; else it is not there. */
  readonly by?: AnsweredBy | undefined;
  /** What the vendor says of the ending beyond its reason; else it is not there. */
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

/** Who decided whether a call may run, one line each. */
export const DECIDERS = {
  tool: "There is no tool of that name.",
  arguments: "The arguments do not fit the tool.",
  grant: "The run was not granted it.",
  rule: "A rule of the settings fits the call.",
  effect: "What the call does needs no question.",
  mode: "`--approve auto` or `--approve deny` answers the question.",
  person: "The user was asked, and said so.",
  nobody:
    "It is to be asked about, and nobody answered: there is no terminal, or the wait was over.",
  pin: "The tool is another one than the one that was agreed to.",
  budget: "The run has no tool calls left.",
  hook: "A hook of the user's settings denied it.",
  guard: "The tool's own guard refused what it came upon: a path, an address, a redirect.",
} as const;
export type DecidedBy = keyof typeof DECIDERS;

/** Written before the call runs. */
export interface ToolDecision {
  readonly type: "tool_decision";
  readonly call_id: string;
  readonly name: string;
  readonly verdict: "allow" | "deny";
  readonly by: DecidedBy;
  /** `deny shell(rm *)`: the rule that made it, or that asked; null where none did. */
  readonly rule: string | null;
  /** Where that rule stands. */
  readonly source: string | null;
  /** For a person. */
  readonly reason: string;
  /** What holds its commands. */
  readonly sandbox: string;
  /** The `tool_question` that it closes; not there where nobody was asked. */
  readonly question?: string | undefined;
  /** The key of the message that answered, where the answer came from another process. */
  readonly answer?: string | undefined;
  /** The hook that denied it; not there where none did. */
  readonly hook?: string | undefined;
  readonly at_ms: number;
}

/**
 * A call is about to start a program, which waits until this is written. Whoever resumes the run ends
 * what is left of it first.
 */
export interface ToolProcess extends ProcessMark {
  readonly type: "tool_process";
  readonly call_id: string;
}

/** How a started process is found again, also by another process. Parts that are unknown are empty. */
export interface ProcessMark {
  readonly pid: number;
  /** When it started, in ticks since the system did. */
  readonly started: string;
  /** The start of the system and the PID namespace in which `pid` means something. */
  readonly boot: string;
  readonly pid_namespace: string;
  /** What it and what it starts have in their environment. */
  readonly mark: string;
}

/** What a call tells while it is made: an event of the Responses API without its place and number. */
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
   * What the conversation has in its place, where a server shows the call as an item of its own: that
   * item, finished, and what follows it.
   */
  readonly shown?: readonly Item[] | undefined;
  /** Whether the text says what went wrong instead of a result. */
  readonly failed: boolean;
  readonly at_ms: number;
}

/** What a child that was asked for waits for, one line each. */
export const WAITS = {
  place: "As many children run at once as may.",
  process: "As many child processes run at once as cores and memory allow.",
  budget: "What is free of the budget does not cover its first call.",
} as const;
export type WaitReason = keyof typeof WAITS;

/**
 * Children that were asked for and cannot be started yet: one event for all that begin to wait together.
 * A `child_start`, or the end of its call, ends the wait. A child may be in a later one with another reason.
 */
export interface ChildQueue {
  readonly type: "child_queue";
  readonly why: WaitReason;
  readonly children: readonly QueuedChild[];
  readonly at_ms: number;
}

export interface QueuedChild {
  /** The id that its run will have. */
  readonly child_id: string;
  readonly label: string;
}

/** A child was ordered: written before its first prompt, between its call's start and end. */
export interface ChildStart {
  readonly type: "child_start";
  /** The call that asked for it. */
  readonly call_key: string;
  readonly child_id: string;
  readonly label: string;
  readonly depth: number;
  /** What was asked for, and what the child really has, by setting. */
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
  /** True where it completed without a tool call although it had tools; else it is not there. */
  readonly did_nothing?: boolean;
  /** True where it has said nothing that its parent could use; else it is not there. */
  readonly no_answer?: boolean;
  /** True where no call waited for its end; else it is not there. */
  readonly background?: boolean;
  readonly at_ms: number;
}

/** What an agent of a team said or did, told again in the log of the run that started it. */
export interface ChildEvent {
  readonly type: "child_event";
  /** The run whose log has it, and its number there: it is told again once. */
  readonly child_id: string;
  readonly child_seq: number;
  /** Who said it: that run's agent, or one below it. */
  readonly agent: string;
  readonly event: Exclude<RunEvent, ChildEvent>;
}

/**
 * What the client has answered while the run went on: results of calls that it makes itself. The agent
 * whose calls they were goes on with them, before its next turn.
 */
export interface ClientInput {
  readonly type: "client_input";
  readonly agent: string;
  readonly items: readonly Item[];
  /** Its number in the log of the team's first run, where this is another one's. */
  readonly root_seq?: number | undefined;
  /** Of the message that brought the answers: whoever left it waits for this event. */
  readonly key?: string | undefined;
  readonly at_ms: number;
}

/** Answers of the client that were not taken, none of them, and why. */
export interface ClientRefusal {
  readonly type: "client_refused";
  readonly key: string;
  readonly error: RunError;
  readonly at_ms: number;
}

/**
 * What people said to the run while it worked, as messages of its conversation: it reads them in the
 * turn that follows. Stands between two turns, and is written once.
 */
export interface RunInput {
  readonly type: "run_input";
  readonly items: readonly Item[];
  readonly at_ms: number;
}

/**
 * The conversation had become too long for the model, and goes on in short: the task, a summary of what was
 * done, and the last turns. Stands before the turn that is asked with it, and is written once. Where a
 * vendor has refused that turn as too long, it ends that attempt: the turn starts again under its number.
 */
export interface RunCompaction {
  readonly type: "compaction";
  /** The turn that follows. */
  readonly turn: number;
  /** The model's own words; empty where only long results of the last turn were cut. */
  readonly summary: string;
  /** How many items the summary stands for. */
  readonly items: number;
  /** How many of the last items stay behind the summary as they were; left out by older versions. */
  readonly kept?: number | undefined;
  /** The conversation's size, as far as it is known, and what is left of it, as estimated. */
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Of the summary. It is no turn, and counts in the run's usage and cost. */
  readonly usage: Usage;
  readonly cost_usd: number | null;
  readonly at_ms: number;
}

/** Something the user should know that is no output: a retry, a wait, a dropped parameter. */
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
  /** The parameters it is about, as requests spell them: `top_p`, `reasoning.effort`. */
  readonly params?: readonly string[];
}

export interface RunEnd {
  readonly type: "run_end";
  readonly ending: Ending;
  /** Why it ended so, for a person; empty when it completed. */
  readonly message: string;
  /** The last turn's text. After a limit it is what there is, and `ending` says so. */
  readonly output_text: string;
  /** True where it ended because somebody else has to answer its calls; else it is not there. */
  readonly waits?: true | undefined;
  /** The validated document, when one was asked for and the run completed. */
  readonly output_json: Json | undefined;
  readonly error: RunError | null;
  readonly turns: number;
  readonly tool_calls: number;
  readonly usage: Usage;
  readonly cost_usd: number | null;
  /** What it and everything below it took from the budget, by kind. */
  readonly spent: JsonObject;
  /** Who gave the last answer, where the model's name stands for several deployments. */
  readonly by?: AnsweredBy | undefined;
  /** What the vendor says of the last answer's ending beyond its reason; else it is not there. */
  readonly stop?: StopDetail | undefined;
  readonly at_ms: number;
}

export interface RunError {
  readonly code: FailureCode;
  readonly message: string;
  /** The field of the request at fault, where there is one. */
  readonly param?: string | undefined;
}

/** A run event with its place in its run's log. */
export interface LoggedEvent {
  readonly run_id: string;
  /** From 0, without gaps. */
  readonly seq: number;
  readonly event: RunEvent;
}
