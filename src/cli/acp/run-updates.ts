/**
 * Turns the events of a run and of all runs below it into updates of an editor's session. It remembers the open
 * calls, so that a question about a call is shown with that call. Ids of calls are ours, because model servers use
 * theirs again.
 */

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { type Resolvers, toResolvers } from "../../base/async.ts";
import { isDelegating } from "../../delegation/tools/names.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import type {
  LoggedEvent,
  RunEvent,
  ToolEnd,
  ToolStart,
  TurnEnd,
} from "../../protocol/run-events.ts";
import { createChildUpdates } from "./child-updates.ts";
import { tryJson } from "./prompt-items.ts";
import { type ReadFile, toChange, toLocations, toTitle, toToolKind } from "./tool-views.ts";

export interface UpdateParts {
  readonly id: string;
  readonly cwd: string;
  /** The model's window; undefined if it is not known. */
  readonly windowTokens: number | undefined;
  /** The earlier cost of the session; null if a price was unknown. */
  readonly usdBefore: number | null;
  /** The features that the editor can show besides conversations. */
  readonly shows: Shows;
  /** Reads a file as the editor has it, for the diff of a call. */
  readonly readFile: ReadFile;
}

export interface Shows {
  readonly notices: boolean;
  readonly compaction: boolean;
}

export interface RunUpdates {
  read(batch: readonly LoggedEvent[]): AsyncGenerator<SessionUpdate>;
  /**
   * To be sent when all logs were read. A log has no end of a call that was stopped with its run: an editor would show
   * it at work for ever.
   */
  end(): Iterable<SessionUpdate>;
  /** The cost of the session, this run included; null if a price is unknown. */
  readonly usd: number | null;
  /** True if the run's last answer was cut at its token limit. */
  readonly isCut: boolean;
  /**
   * The id of the call that a question is about, as soon as the log has it. `path` is that of the asking run.
   */
  callOf(path: string, question: string): Promise<string>;
}

export function createRunUpdates(parts: UpdateParts): RunUpdates {
  return new TreeUpdates(parts);
}

type Updates = Generator<SessionUpdate | Promise<SessionUpdate>>;

class TreeUpdates implements RunUpdates {
  usd: number | null;
  isCut = false;
  readonly #parts: UpdateParts;
  readonly #children = createChildUpdates();
  readonly #questions = createQuestions();
  /** The ids under which the editor knows the calls. */
  readonly #calls = new Map<string, string>();
  readonly #delegating = new Map<string, ToolStart>();
  /** Calls at work, by the ids that the editor has. */
  readonly #atWork = new Set<string>();
  /** Paths of runs. */
  readonly #paths = new Map<string, string>();
  #turn = 0;
  #count = 0;

  constructor(parts: UpdateParts) {
    this.#parts = parts;
    this.usd = parts.usdBefore;
  }

  callOf(path: string, question: string): Promise<string> {
    return this.#questions.callOf(path, question);
  }

  async *read(batch: readonly LoggedEvent[]): AsyncGenerator<SessionUpdate> {
    for (const { run_id, event } of batch) {
      this.#learn(run_id, event);
      if (run_id === this.#parts.id) {
        for (const update of this.#readOwn(event)) yield await update;
      }
      const child = this.#children.read(run_id, event);
      if (child) yield child;
    }
  }

  *end(): Generator<SessionUpdate> {
    for (const id of [...this.#atWork, ...this.#children.atWork]) yield toStopped(id);
  }

  #learn(run: string, event: RunEvent): void {
    const { id } = this.#parts;
    if (event.type === "run_start") this.#paths.set(run, event.path);
    if (event.type === "turn_end" || event.type === "compaction") {
      const { cost_usd } = event;
      this.usd = this.usd === null || cost_usd === null ? null : this.usd + cost_usd;
    }
    if (event.type !== "tool_question") return;
    const call = run === id ? this.#calls.get(event.call_id) : undefined;
    const path = this.#paths.get(run) ?? run;
    this.#questions.tell(path, event.question, call ?? `${run}:${event.call_id}`);
  }

  *#readOwn(event: RunEvent): Updates {
    const { id, shows } = this.#parts;
    switch (event.type) {
      case "turn_start":
        this.#turn = event.turn;
        break;
      case "text_delta":
      case "refusal_delta":
        yield toChunk("agent_message_chunk", event.delta, `${id}:${this.#turn}:${event.index}`);
        break;
      case "reasoning_delta":
        yield toChunk("agent_thought_chunk", event.delta, `${id}:${this.#turn}:${event.index}`);
        break;
      case "tool_start":
        yield* this.#readToolStart(event);
        break;
      case "tool_end":
        yield* this.#readToolEnd(event);
        break;
      case "turn_end":
        this.isCut = event.reason === "length";
        yield toUsage(tokensOf(event), { usd: this.usd, windowTokens: this.#parts.windowTokens });
        break;
      case "notice":
        if (shows.notices) yield toNotice(event.code, event.message);
        break;
      case "compaction":
        if (shows.compaction) yield* toCompaction(`${id}:${event.turn}`, event.summary);
        break;
      default:
    }
  }

  *#readToolStart(event: ToolStart): Updates {
    this.#count += 1;
    const toolCallId = `${this.#parts.id}:${this.#count}`;
    this.#calls.set(event.call_id, toolCallId);
    if (isDelegating(event.name)) this.#delegating.set(event.call_id, event);
    else {
      this.#atWork.add(toolCallId);
      yield toCall(this.#parts, toolCallId, event);
    }
  }

  /**
   * A run that a call started is shown separately. A call that delegates is shown only if it started none.
   */
  *#readToolEnd(event: ToolEnd): Updates {
    const toolCallId = this.#calls.get(event.call_id) ?? event.call_id;
    const start = this.#delegating.get(event.call_id);
    this.#delegating.delete(event.call_id);
    this.#atWork.delete(toolCallId);
    if (start && !event.failed) return;
    if (start) yield toCall(this.#parts, toolCallId, start);
    yield toEnd(toolCallId, event);
  }
}

/** The tokens that a turn has left in the model's window. */
export function tokensOf({ usage }: TurnEnd): number {
  return usage.input_tokens + usage.output_tokens;
}

interface Used extends Pick<UpdateParts, "windowTokens"> {
  /** The cost of the session; null if a price is unknown. */
  readonly usd: number | null;
}

export function toUsage(used: number, { usd, windowTokens }: Used): SessionUpdate {
  const cost = usd === null ? null : { amount: usd, currency: "USD" };
  return { sessionUpdate: "usage_update", used, size: windowTokens ?? 0, cost };
}

interface Questions {
  tell(path: string, question: string, call: string): void;
  callOf(path: string, question: string): Promise<string>;
}

/**
 * A question is in the log before it is asked, but the asker may be faster than the reader of the log.
 */
function createQuestions(): Questions {
  const known = new Map<string, Resolvers<string>>();
  const of = (path: string, question: string): Resolvers<string> => {
    const key = JSON.stringify([path, question]);
    const found = known.get(key) ?? toResolvers<string>();
    known.set(key, found);
    return found;
  };
  return {
    tell: (path, question, call) => of(path, question).resolve(call),
    callOf: (path, question) => of(path, question).promise,
  };
}

async function toCall(
  { cwd, readFile }: UpdateParts,
  toolCallId: string,
  { name, arguments: given }: ToolStart,
): Promise<SessionUpdate> {
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    name,
    title: toTitle(name, given),
    kind: toToolKind(name),
    status: "in_progress",
    rawInput: tryJson(given),
    locations: toLocations(given, cwd),
    content: await toChange({ name, arguments: given }, cwd, readFile),
  };
}

function toEnd(toolCallId: string, { item, failed }: ToolEnd): SessionUpdate {
  const output = item.type === "function_call_output" ? item.output : "";
  const text = typeof output === "string" ? output : output.map(textOfPart).join("\n");
  const status = failed ? "failed" : "completed";
  // The change was shown when the call started; a result would replace the diff.
  return { sessionUpdate: "tool_call_update", toolCallId, status, rawOutput: text };
}

function toStopped(toolCallId: string): SessionUpdate {
  return { sessionUpdate: "tool_call_update", toolCallId, status: "failed" };
}

/** Notices that a person can do nothing about are not shown. */
const QUIET: ReadonlySet<string> = new Set(["replay", "report", "unread", "background", "process"]);

function toNotice(code: string, message: string): SessionUpdate {
  const severity = QUIET.has(code) ? "info" : "warning";
  return { sessionUpdate: "notice", severity, title: message || code };
}

/** Shown when it is done: the log has it as one event. */
function* toCompaction(compactionId: string, summary: string): Generator<SessionUpdate> {
  yield { sessionUpdate: "compaction_update", compactionId, status: "in_progress" };
  if (summary !== "") {
    const content = { type: "text" as const, text: summary };
    yield { sessionUpdate: "compaction_summary_chunk", compactionId, content };
  }
  yield { sessionUpdate: "compaction_update", compactionId, status: "completed" };
}

function toChunk(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  text: string,
  messageId: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text }, messageId };
}
