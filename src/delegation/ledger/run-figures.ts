/**
 * The state and figures of a run, folded from its log event by event: for a tree that is drawn while it grows, for the
 * line at a run's end and for reads of the record. A log may stop anywhere.
 *
 * Finished calls count by their `turn_end`, and summaries by their `compaction`. An interrupted call has neither; what
 * it used, in part as an estimate, is in the usage of `run_end`, so the larger of the two usages counts.
 */

import { isJsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { createOpenWork } from "../../protocol/abandoned-work.ts";
import { createOpenToolQuestions } from "../../protocol/open-questions.ts";
import type {
  ChildEnd,
  Ending,
  RunCompaction,
  RunEnd,
  RunEvent,
  RunStart,
  TurnEnd,
} from "../../protocol/run-events.ts";
import type { ToolQuestion } from "../../protocol/tool-question.ts";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.ts";

/** A run's own figures, without the runs below it. */
export interface RunFigures {
  /** Null until its first event, like every field that comes from the settings. */
  readonly model: string | null;
  readonly label: string | null;
  readonly ending: Ending | null;
  /** Why it ended so; empty when it completed or has not ended. */
  readonly message: string;
  readonly turns: number;
  /** Model calls: more than turns if a process died in the middle of one. */
  readonly calls: number;
  /** The calls that brought no whole answer. */
  readonly failed_calls: number;
  readonly tool_calls: number;
  readonly usage: Usage;
  /** The cost of the calls whose price is known. */
  readonly known_usd: number;
  /** Calls whose cost is not known. */
  readonly unknown_calls: number;
  readonly cost_usd: number | null;
  readonly started_at_ms: number | null;
  /** The latest time in the log. */
  readonly last_at_ms: number | null;
  readonly ended_at_ms: number | null;
  /** The run's last action; words of a model, to be cleaned before they are shown. */
  readonly last_action: string;
  /** The calls that wait for a person's answer; also words of a model. */
  readonly questions: readonly ToolQuestion[];
}

export interface RunFold {
  read(event: RunEvent): void;
  readAll(events: Iterable<{ readonly event: RunEvent }>): void;
  readonly figures: RunFigures;
}

export function createRunFold(): RunFold {
  return new Fold();
}

/** A child's figures as its parent reports them: for a child that has left no log of its own. */
export function toToldFigures(end: ChildEnd): RunFigures {
  const { ending, message, turns, usage, cost_usd, at_ms } = end;
  return {
    ...createRunFold().figures,
    ending,
    message,
    turns,
    calls: turns,
    usage,
    cost_usd,
    known_usd: cost_usd ?? 0,
    unknown_calls: cost_usd === null ? turns : 0,
    last_at_ms: at_ms,
    ended_at_ms: at_ms,
  };
}

class Fold implements RunFold {
  #start: RunStart | undefined;
  #end: RunEnd | undefined;
  #turns = 0;
  #calls = 0;
  #toolCalls = 0;
  readonly #work = createOpenWork();
  readonly #questions = createOpenToolQuestions();
  #usage: Usage = NO_USAGE;
  #knownUsd = 0;
  /** Finished calls without a known price. */
  #unpriced = 0;
  /** Calls that were interrupted after they had begun to answer. */
  #cut = 0;
  /** Calls that were sent and interrupted before any output: what was sent is paid for. */
  #sent = 0;
  #failed = 0;
  #finished = 0;
  /** The model of the last answer, if a name stands for several deployments. */
  #answeredBy: string | undefined;
  /** The state of the current call: none, sent without output yet, or answering. */
  #open: "no" | "asked" | "answering" = "no";
  #lastAtMs: number | null = null;
  #lastAction = "";

  readAll(events: Iterable<{ readonly event: RunEvent }>): void {
    for (const { event } of events) this.read(event);
  }

  read(event: RunEvent): void {
    if ("at_ms" in event) this.#lastAtMs = Math.max(this.#lastAtMs ?? 0, event.at_ms);
    this.#questions.read(event);
    const action = toAction(event);
    if (action !== undefined) this.#lastAction = action;
    // A call that is made again after a takeover is one call.
    this.#toolCalls -= this.#work.read(event)?.calls.length ?? 0;
    switch (event.type) {
      case "run_start":
        this.#start = event;
        this.#lastAtMs = Math.max(this.#lastAtMs ?? 0, event.created_at_ms);
        return;
      case "turn_start":
        this.#closeCall();
        this.#open = "asked";
        this.#calls++;
        this.#turns = Math.max(this.#turns, event.turn);
        return;
      case "text_delta":
      case "reasoning_delta":
      case "refusal_delta":
      case "arguments_delta":
        if (this.#open === "asked") this.#open = "answering";
        return;
      case "turn_end":
        return this.#endTurn(event);
      case "compaction":
        return this.#compact(event);
      case "tool_start":
        this.#toolCalls++;
        return;
      case "run_resume":
        return this.#closeCall({ isCut: true });
      case "run_end":
        return this.#endRun(event);
      default:
        return;
    }
  }

  #endRun(event: RunEnd): void {
    const { ending, turns } = event;
    // A call that could not be paid for, or was cancelled while it waited, was not made.
    if (this.#open === "asked" && turns === this.#turns - 1) {
      this.#open = "no";
      this.#calls--;
      this.#turns--;
    }
    this.#closeCall({ isCut: ending === "cancelled" || ending === "timeout" });
    this.#end = event;
  }

  #endTurn({ usage, cost_usd, by }: TurnEnd): void {
    this.#open = "no";
    this.#answeredBy = by?.model ?? this.#answeredBy;
    this.#finished++;
    this.#usage = addUsage(this.#usage, usage);
    if (cost_usd === null) this.#unpriced++;
    else this.#knownUsd += cost_usd;
  }

  /** A compaction is a model call too, and not a turn. One that only cut results is neither. */
  #compact({ summary, usage, cost_usd }: RunCompaction): void {
    // The vendor has refused the turn that was open.
    this.#closeCall();
    if (summary === "") return;
    this.#calls++;
    this.#finished++;
    this.#usage = addUsage(this.#usage, usage);
    if (cost_usd === null) this.#unpriced++;
    else this.#knownUsd += cost_usd;
  }

  /** `isCut`: we ended the call. A call that its vendor ended before any output costs nothing. */
  #closeCall({ isCut = false } = {}): void {
    if (this.#open === "answering") this.#cut++;
    if (this.#open === "asked" && isCut) this.#sent++;
    if (this.#open !== "no") this.#failed++;
    this.#open = "no";
  }

  get figures(): RunFigures {
    const start = this.#start;
    const end = this.#end;
    const known_usd = Math.max(this.#knownUsd, end?.cost_usd ?? 0);
    const unknown_calls = this.#countUnknown();
    return {
      // If there are several deployments, the one that answered last.
      model: this.#answeredBy ?? start?.settings.model ?? null,
      label: start?.settings.label ?? null,
      ending: end?.ending ?? null,
      message: end?.message ?? "",
      turns: Math.max(this.#turns, end?.turns ?? 0),
      calls: this.#calls,
      failed_calls: this.#failed,
      tool_calls: Math.max(this.#toolCalls, end?.tool_calls ?? 0),
      usage: end && this.#hasUsedMore(end) ? end.usage : this.#usage,
      known_usd,
      unknown_calls,
      cost_usd: unknown_calls > 0 ? null : known_usd,
      started_at_ms: start?.created_at_ms ?? null,
      last_at_ms: this.#lastAtMs,
      ended_at_ms: end?.at_ms ?? null,
      last_action: this.#lastAction,
      questions: this.#questions.open,
    };
  }

  #hasUsedMore({ usage }: RunEnd): boolean {
    return usage.total_tokens > this.#usage.total_tokens;
  }

  #countUnknown(): number {
    const end = this.#end;
    const hasFreeCalls = this.#hasFreeCalls();
    const sent = hasFreeCalls ? 0 : this.#sent;
    const unknown = this.#unpriced + (this.#isFree() ? 0 : this.#cut) + sent;
    // Tokens of a call that is not in the log, and without a price.
    const isUntold = end?.cost_usd === null && this.#hasUsedMore(end) && !hasFreeCalls;
    return unknown === 0 && isUntold ? 1 : unknown;
  }

  /** An interrupted call has no usage to tell; if the model is free it has cost nothing. */
  #isFree(): boolean {
    return this.#end?.cost_usd === 0 || this.#hasFreeCalls();
  }

  #hasFreeCalls(): boolean {
    return this.#finished > this.#unpriced && this.#knownUsd === 0;
  }
}

const ACTION_CHARS = 60;

/** Undefined for an event that is not an action. */
function toAction(event: RunEvent): string | undefined {
  switch (event.type) {
    case "turn_start":
      return "asking the model";
    case "reasoning_delta":
      return "thinking";
    case "text_delta":
      return "answering";
    case "tool_start":
      return toCallText(event);
    case "run_input":
      return "reading a message";
    case "compaction":
      return "made its conversation short";
    case "notice":
      return event.code === "retry" || event.code === "wait"
        ? clip(event.message, ACTION_CHARS)
        : undefined;
    default:
      return undefined;
  }
}

/** `waits for approval: shell rm -rf build`; undefined if no call waits for an answer. */
export function toApprovalText({ questions }: Pick<RunFigures, "questions">): string | undefined {
  if (questions.length === 0) return undefined;
  return `waits for approval: ${questions.map(toCallText).join(", ")}`;
}

/** `shell rm -rf build`: a call on one short line. */
export function toCallText({
  name,
  arguments: text,
}: Pick<ToolQuestion, "name" | "arguments">): string {
  return clip(`${name} ${toMainArgument(text)}`, ACTION_CHARS);
}

/** Arguments that say what a call is about, whatever order a model writes them in. */
const MAIN_ARGUMENTS = ["command", "path", "url", "query", "pattern", "agent", "label", "prompt"];

/** The main text among the arguments says most; if there is none the first text, or all arguments. */
function toMainArgument(text: string): string {
  const parsed = tryParseJson(text);
  if (!isJsonObject(parsed)) return text;
  const main = MAIN_ARGUMENTS.map((name) => parsed[name]);
  const first = [...main, ...Object.values(parsed)].find((value) => typeof value === "string");
  if (typeof first === "string") return first;
  return Object.keys(parsed).length === 0 ? "" : text;
}
