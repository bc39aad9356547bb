/**
 * Decodes chat chunks to model events.
 *
 * A chat answer is one message whose parts are mixed in time; the log has items one after another. So
 * reasoning ends when text begins, text ends when calls begin, and the calls, whose fragments may be
 * interleaved, end together with the answer.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson, tryParsePayload } from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";
import type { FunctionCall } from "../../protocol/items.ts";
import type { EndReason, ModelEvent } from "../../protocol/model-events.ts";
import { addUsage, NO_USAGE, toUsage, type Usage } from "../../protocol/usage.ts";
import { toMissingCall, toNamelessCall } from "../broken-answer.ts";
import { readCost } from "../models/told-cost.ts";
import { toVendorFailure } from "../provider-failure.ts";
import { readShape } from "../shape.ts";
import type { Decoder } from "../wire.ts";
import { DeltaTemplate } from "./delta-template.ts";
import { ExecutedTools, nameOf } from "./executed-tools.ts";
import { type OpenChatItem, openAs, toItem } from "./open-item.ts";
import { addDetails } from "./reasoning-details.ts";
import {
  CHUNK,
  type ChatChoice,
  type ChatChunk,
  type ChatContent,
  type ChatDelta,
  type ChatToolCall,
  type ChatUsage,
} from "./schema.ts";
import { citePages, pagesOf, type SourceCitation, type SourcePage, toCitation } from "./sources.ts";

/**
 * Creates a decoder. `stops` are the stop texts of the request: some servers report in fields of their own
 * which one ended the answer.
 */
export function createDecoder(stops: readonly string[] = []): Decoder {
  return new ChatDecoder(stops);
}

type Logprobs = readonly Logprob[] | null | undefined;

interface OpenCall {
  readonly index: number;
  readonly call: Omit<FunctionCall, "arguments">;
  /** The server's number for the call; undefined if it sends none. */
  readonly slot: number | undefined;
  arguments: string;
}

class ChatDecoder implements Decoder {
  readonly #stops: readonly string[];
  #responseId = "";
  #isStarted = false;
  #isEnded = false;
  #isDone = false;
  #nextIndex = 0;
  #open: OpenChatItem | undefined;
  readonly #calls: OpenCall[] = [];
  #finishReason: string | undefined;
  #stopSequence: string | undefined;
  #hasRefusal = false;
  /** Citations that arrived before their text. */
  #early: SourceCitation[] = [];
  /** The sources of the answer that the server has named so far. */
  #pages: readonly SourcePage[] = [];
  #usage: Usage | undefined;
  #costUsd: number | undefined;
  /** The tools that the server ran. Made by the first answer that has some, because it costs memory. */
  #executed: ExecutedTools | undefined;
  /** How often the server ran each of its tools. */
  #made: Record<string, number> | undefined;
  readonly #template = new DeltaTemplate();

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  read(data: string, out: ModelEvent[]): void {
    if (data === "[DONE]") return this.#readDone(out);
    if (this.#isEnded) return;
    const known = this.#template.read(data);
    if (known === undefined) this.#readChunk(data, out);
    else this.#write("text", known, out);
  }

  #readChunk(data: string, out: ModelEvent[]): void {
    const parsed = tryParsePayload(data);
    if (!isJsonObject(parsed)) return;
    if (parsed["error"]) throw toVendorFailure(parsed["error"]);
    if (parsed["type"] === "error") throw toVendorFailure(parsed);
    const chunk = readShape(parsed, CHUNK);
    if (!this.#isStarted) this.#start(chunk, out);
    this.#readAside(chunk);
    const choice = chunk.choices?.[0];
    if (!choice) return;
    const logprobs = choice.logprobs?.content;
    if (choice.delta) this.#readDelta(choice.delta, logprobs, out);
    else if (choice.message) this.#readMessage(choice.message, logprobs, out);
    // In a whole answer, an empty reason also means that the answer is complete: nothing follows.
    const reason =
      choice.finish_reason || (choice.message && choice.finish_reason === "" && "stop");
    if (reason) this.#readReason(reason, choice);
    const said = choice.delta?.content;
    if (typeof said === "string" && isTextAlone(chunk, choice)) this.#template.learn(data, said);
  }

  /**
   * Reads the reason and the stop text. Some servers put other words into these fields, so only a text of
   * the request counts.
   */
  #readReason(reason: string, { stop_reason, matched_stop }: ChatChoice): void {
    this.#finishReason = reason;
    const sequence = stop_reason ?? matched_stop;
    if (sequence && this.#stops.includes(sequence)) this.#stopSequence = sequence;
  }

  /** Reads the fields of a chunk beside its choices. */
  #readAside(chunk: ChatChunk): void {
    const usage = chunk.usage ?? chunk.x_groq?.usage;
    if (usage) this.#usage = readUsage(usage);
    if (usage) this.#costUsd = readCost(usage) ?? this.#costUsd;
    const pages = pagesOf(chunk);
    if (pages.length > 0) this.#pages = pages;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  end(out: ModelEvent[]): void {
    if (this.#isEnded) return;
    if (this.#isDone || this.#finishReason !== undefined) return this.#finish(out);
    throw new Failure(
      "provider_broke_protocol",
      "The stream ended before the answer did: no finish reason and no [DONE].",
    );
  }

  /** Usage may still follow after [DONE]. A server that has sent it sends nothing more. */
  #readDone(out: ModelEvent[]): void {
    this.#isDone = true;
    if (this.#usage && !this.#isEnded) this.#finish(out);
  }

  #start(chunk: ChatChunk, out: ModelEvent[]): void {
    this.#isStarted = true;
    this.#responseId = chunk.id ?? "";
    out.push({ type: "start", response_id: this.#responseId, model: chunk.model ?? "" });
  }

  #readDelta(delta: ChatDelta, logprobs: Logprobs, out: ModelEvent[]): void {
    this.#readText(delta, logprobs, out);
    for (const part of delta.tool_calls ?? []) this.#readCall(part, out);
  }

  /** Reads an answer in one piece. Each entry is a call, with or without a number. */
  #readMessage(message: ChatDelta, logprobs: Logprobs, out: ModelEvent[]): void {
    this.#readText(message, logprobs, out);
    for (const part of message.tool_calls ?? []) {
      this.#addArguments(this.#openCall(part, out), part, out);
    }
  }

  #readText(delta: ChatDelta, logprobs: Logprobs, out: ModelEvent[]): void {
    const { executed_tools: executed } = delta;
    if (executed?.length) {
      this.#executed ??= new ExecutedTools();
      this.#executed.read(executed);
    }
    const reasoning = delta.reasoning_content || delta.reasoning;
    if (reasoning) this.#write("reasoning", reasoning, out);
    if (delta.reasoning_details?.length) this.#addDetails(delta.reasoning_details, out);
    const content = typeof delta.content === "string" ? delta.content : "";
    if (logprobs && logprobs.length > 0) this.#writeLikely(content, logprobs, out);
    else if (content) this.#write("text", content, out);
    if (typeof delta.content === "object") this.#readParts(delta.content, out);
    if (delta.refusal) this.#write("refusal", delta.refusal, out);
    for (const annotation of delta.annotations ?? []) this.#annotate(toCitation(annotation), out);
  }

  #readParts(parts: Exclude<ChatContent, string> | null, out: ModelEvent[]): void {
    for (const { thinking, text } of parts ?? []) {
      const thoughts = typeof thinking === "string" ? [{ text: thinking }] : (thinking ?? []);
      for (const thought of thoughts) if (thought.text) this.#write("reasoning", thought.text, out);
      if (text) this.#write("text", text, out);
    }
  }

  /** Adds reasoning details. If no reasoning is open, they become an item of their own without text. */
  #addDetails(details: readonly object[], out: ModelEvent[]): void {
    const open = this.#open?.kind === "reasoning" ? this.#open : this.#openItem("reasoning", out);
    addDetails(open.details, details as readonly JsonObject[]);
  }

  /**
   * Writes text with its tokens. Tokens without text are parts of a character; tokens of an empty delta
   * belong to calls.
   */
  #writeLikely(delta: string, logprobs: readonly Logprob[], out: ModelEvent[]): void {
    const known = this.#open?.kind === "text" ? this.#open : undefined;
    const open = known ?? (delta === "" ? undefined : this.#openItem("text", out));
    if (!open) return;
    open.pieces.push(delta);
    if (open.logprobs) open.logprobs.push(...logprobs);
    else open.logprobs = [...logprobs];
    out.push({ type: "text_delta", index: open.index, part: 0, delta, logprobs });
  }

  #write(kind: OpenChatItem["kind"], delta: string, out: ModelEvent[]): void {
    const open = this.#open?.kind === kind ? this.#open : this.#openItem(kind, out);
    open.pieces.push(delta);
    const { index } = open;
    if (kind === "text") out.push({ type: "text_delta", index, part: 0, delta });
    else if (kind === "refusal") out.push({ type: "refusal_delta", index, part: 0, delta });
    else out.push({ type: "reasoning_delta", index, part: 0, kind: "text", delta });
  }

  /** Emits the calls that the server ran before the text. */
  #tellExecuted(out: ModelEvent[]): void {
    if (!this.#executed || this.#executed.isEmpty) return;
    this.#pages = [...this.#pages, ...this.#executed.pages()];
    for (const item of this.#executed.take()) {
      const index = this.#nextIndex++;
      const name = nameOf(item);
      this.#made = { ...this.#made, [name]: (this.#made?.[name] ?? 0) + 1 };
      const start = { ...item, status: "in_progress" } as typeof item;
      out.push({ type: "item_start", index, item: start, own: true });
      out.push({ type: "item_end", index, item });
    }
  }

  #openItem(kind: OpenChatItem["kind"], out: ModelEvent[]): OpenChatItem {
    this.#closeItem(out);
    if (kind === "text") this.#tellExecuted(out);
    const index = this.#nextIndex++;
    const open = openAs(kind, index);
    this.#open = open;
    if (kind === "refusal") this.#hasRefusal = true;
    out.push({ type: "item_start", index, item: toItem(open) });
    if (kind === "text") for (const early of this.#early.splice(0)) this.#annotate(early, out);
    return open;
  }

  #closeItem(out: ModelEvent[]): void {
    if (!this.#open) return;
    const { index, kind, pieces, annotations } = this.#open;
    if (kind === "text") {
      const cited = citePages(this.#pages, pieces.join(""), annotations);
      for (const citation of cited) this.#annotate(citation, out);
    }
    out.push({ type: "item_end", index, item: toItem(this.#open, this.#itemStatus()) });
    this.#open = undefined;
  }

  #annotate(citation: SourceCitation, out: ModelEvent[]): void {
    if (this.#open?.kind !== "text") return void this.#early.push(citation);
    this.#open.annotations.push(citation);
    out.push({ type: "annotation", index: this.#open.index, part: 0, annotation: citation });
  }

  #readCall(part: ChatToolCall, out: ModelEvent[]): void {
    this.#addArguments(this.#findCall(part) ?? this.#openCall(part, out), part, out);
  }

  #addArguments(open: OpenCall, { function: named }: ChatToolCall, out: ModelEvent[]): void {
    const delta = named?.arguments;
    if (!delta) return;
    open.arguments += delta;
    out.push({ type: "arguments_delta", index: open.index, delta });
  }

  /**
   * Finds the call of a fragment: by the server's index, by its id if there is no index, otherwise the last
   * one.
   */
  #findCall({ index, id, function: named }: ChatToolCall): OpenCall | undefined {
    if (typeof index !== "number") {
      return id ? this.#calls.find(({ call }) => call.call_id === id) : this.#calls.at(-1);
    }
    const found = this.#calls.findLast(({ slot }) => slot === index);
    // Some servers number every parallel call 0. A new id with a name, after arguments that are complete,
    // is then a new call.
    const isOther = found && id && named?.name && id !== found.call.call_id;
    return isOther && tryParseJson(found.arguments) !== undefined ? undefined : found;
  }

  #openCall(part: ChatToolCall, out: ModelEvent[]): OpenCall {
    const { index, id, function: named, extra_content: extra } = part;
    if (!named?.name) {
      throw toNamelessCall();
    }
    if (extra) this.#openItem("reasoning", out).extra = extra as JsonObject;
    this.#closeItem(out);
    const open: OpenCall = {
      index: this.#nextIndex++,
      call: { type: "function_call", call_id: this.#callId(id), name: named.name },
      slot: index ?? undefined,
      arguments: "",
    };
    this.#calls.push(open);
    const item: FunctionCall = { ...open.call, arguments: "", status: "in_progress" };
    out.push({ type: "item_start", index: open.index, item });
    return open;
  }

  /** The id of a call. Results are matched by id, so a missing or repeated id is replaced. */
  #callId(id: string | null | undefined): string {
    const isTaken = this.#calls.some(({ call }) => call.call_id === id);
    if (id && !isTaken) return id;
    return `${id || `call_${this.#responseId}`}_${this.#calls.length}`;
  }

  #finish(out: ModelEvent[]): void {
    this.#isEnded = true;
    if (!this.#isStarted) this.#start({}, out);
    if (this.#executed) this.#pages = [...this.#pages, ...this.#executed.pages()];
    this.#closeItem(out);
    this.#tellExecuted(out);
    if (this.#calls.length === 0 && CALLING.has(this.#finishReason ?? "")) throw toMissingCall();
    const status = this.#itemStatus();
    for (const { index, call, arguments: text } of this.#calls) {
      out.push({ type: "item_end", index, item: { ...call, arguments: text, status } });
    }
    const counted = this.#usage ?? NO_USAGE;
    const usage = this.#made ? addUsage(counted, toUsage({ nativeCalls: this.#made })) : counted;
    const told = this.#costUsd === undefined ? {} : { cost_usd: this.#costUsd };
    const sequence = this.#stopSequence;
    const stop = sequence ? { stop: { reason: "stop_sequence" as const, sequence } } : {};
    const end = { reason: this.#endReason(), usage, ...told, ...stop };
    out.push({ type: "end", ...end, continuation: undefined });
  }

  #itemStatus(): "completed" | "incomplete" {
    return this.#finishReason === "length" ? "incomplete" : "completed";
  }

  #endReason(): EndReason {
    if (this.#finishReason === "length") return "length";
    if (this.#finishReason === "content_filter" || this.#hasRefusal) return "refusal";
    return this.#calls.length > 0 ? "tool_calls" : "stop";
  }
}

/** True if nothing in a chunk matters except its text. */
function isTextAlone({ usage, x_groq }: ChatChunk, choice: ChatChoice): boolean {
  const { delta, logprobs, finish_reason } = choice;
  if (!delta?.content || usage || x_groq || logprobs?.content || finish_reason) return false;
  if (delta.reasoning_content || delta.reasoning || delta.refusal) return false;
  if (delta.reasoning_details?.length || delta.executed_tools?.length) return false;
  return !delta.tool_calls?.length && !delta.annotations?.length;
}

/** Finish reasons that mean that a tool is called. */
const CALLING: ReadonlySet<string> = new Set(["tool_calls", "function_call"]);

/** Some servers do not count reasoning in the completion. The total is then more than prompt and completion. */
function readUsage(usage: ChatUsage): Usage {
  const input = usage.prompt_tokens ?? 0;
  const said = usage.completion_tokens ?? 0;
  return toUsage({
    input,
    cached:
      usage.prompt_tokens_details?.cached_tokens ??
      usage.prompt_cache_hit_tokens ??
      usage.cached_tokens ??
      0,
    cacheWrite: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
    output: Math.max(said, (usage.total_tokens ?? 0) - input),
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? usage.reasoning_tokens ?? 0,
  });
}
