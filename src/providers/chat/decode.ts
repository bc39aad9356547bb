/**
 * Chat chunks to model events.
 *
 * A chat answer is one message with parts mixed in time; the log wants items one after another. So
 * reasoning ends where text begins, text ends where the calls begin, and the calls, whose fragments
 * may be interleaved, end together with the answer.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson, tryParsePayload } from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";
import type { FunctionCall } from "../../protocol/items.ts";
import type { EndReason, ModelEvent } from "../../protocol/model-events.ts";
import { addUsage, NO_USAGE, toUsage, type Usage } from "../../protocol/usage.ts";
import { toMissingCall, toNamelessCall } from "../broken-answer.ts";
import { toVendorFailure } from "../provider-failure.ts";
import { readShape } from "../shape.ts";
import { readCost } from "../told-cost.ts";
import type { Decoder } from "../wire.ts";
import { DeltaTemplate } from "./delta-template.ts";
import { ExecutedTools, nameOf } from "./executed-tools.ts";
import { type OpenItem, openAs, toItem } from "./open-item.ts";
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
import { type Citation, citePages, type Page, pagesOf, toCitation } from "./sources.ts";

/** `stops` are the texts of the request: servers that say which one came up have it in fields of their own. */
export function createDecoder(stops: readonly string[] = []): Decoder {
  return new ChatDecoder(stops);
}

type Logprobs = readonly Logprob[] | null | undefined;

interface OpenCall {
  readonly index: number;
  readonly call: Omit<FunctionCall, "arguments">;
  /** The server's number for the call, or none where it sends none. */
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
  #open: OpenItem | undefined;
  readonly #calls: OpenCall[] = [];
  #finishReason: string | undefined;
  #stopSequence: string | undefined;
  #hasRefusal = false;
  /** Citations that came before the text they are of. */
  #early: Citation[] = [];
  /** What the answer was made from, as far as the server has told. */
  #pages: readonly Page[] = [];
  #usage: Usage | undefined;
  #costUsd: number | undefined;
  readonly #executed = new ExecutedTools();
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
    // Of an answer in one piece an empty reason is one too: nothing comes behind it.
    const reason =
      choice.finish_reason || (choice.message && choice.finish_reason === "" && "stop");
    if (reason) this.#readReason(reason, choice);
    const said = choice.delta?.content;
    if (typeof said === "string" && isTextAlone(chunk, choice)) this.#template.learn(data, said);
  }

  /** Some servers have other words in these fields: only a text that was asked for is one. */
  #readReason(reason: string, { stop_reason, matched_stop }: ChatChoice): void {
    this.#finishReason = reason;
    const sequence = stop_reason ?? matched_stop;
    if (sequence && this.#stops.includes(sequence)) this.#stopSequence = sequence;
  }

  /** What a chunk tells beside the answer. */
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

  /** Usage may still come behind [DONE]; a server that has sent it has nothing more to say. */
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

  /** An answer in one piece: each entry is a call, numbered or not. */
  #readMessage(message: ChatDelta, logprobs: Logprobs, out: ModelEvent[]): void {
    this.#readText(message, logprobs, out);
    for (const part of message.tool_calls ?? []) {
      this.#addArguments(this.#openCall(part, out), part, out);
    }
  }

  #readText(delta: ChatDelta, logprobs: Logprobs, out: ModelEvent[]): void {
    const { executed_tools: executed } = delta;
    if (executed?.length) this.#executed.read(executed);
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

  /** Where nothing is being thought they are an item of their own, with nothing to read in it. */
  #addDetails(details: readonly object[], out: ModelEvent[]): void {
    const open = this.#open?.kind === "reasoning" ? this.#open : this.#openItem("reasoning", out);
    addDetails(open.details, details as readonly JsonObject[]);
  }

  /** Tokens without text are pieces of a character; those of no text at all are of calls. */
  #writeLikely(delta: string, logprobs: readonly Logprob[], out: ModelEvent[]): void {
    const known = this.#open?.kind === "text" ? this.#open : undefined;
    const open = known ?? (delta === "" ? undefined : this.#openItem("text", out));
    if (!open) return;
    open.pieces.push(delta);
    if (open.logprobs) open.logprobs.push(...logprobs);
    else open.logprobs = [...logprobs];
    out.push({ type: "text_delta", index: open.index, part: 0, delta, logprobs });
  }

  #write(kind: OpenItem["kind"], delta: string, out: ModelEvent[]): void {
    const open = this.#open?.kind === kind ? this.#open : this.#openItem(kind, out);
    open.pieces.push(delta);
    const { index } = open;
    if (kind === "text") out.push({ type: "text_delta", index, part: 0, delta });
    else if (kind === "refusal") out.push({ type: "refusal_delta", index, part: 0, delta });
    else out.push({ type: "reasoning_delta", index, part: 0, kind: "text", delta });
  }

  /** What ran before the text is told before it. */
  #tellExecuted(out: ModelEvent[]): void {
    if (this.#executed.isEmpty) return;
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

  #openItem(kind: OpenItem["kind"], out: ModelEvent[]): OpenItem {
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

  #annotate(citation: Citation, out: ModelEvent[]): void {
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

  /** By the server's index first; by id where it sends none; else the fragment goes on the last. */
  #findCall({ index, id, function: named }: ChatToolCall): OpenCall | undefined {
    if (typeof index !== "number") {
      return id ? this.#calls.find(({ call }) => call.call_id === id) : this.#calls.at(-1);
    }
    const found = this.#calls.findLast(({ slot }) => slot === index);
    // Some servers number every parallel call 0. A new id with a name, behind arguments that are
    // whole, is then a new call.
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

  /** Results are told apart by id, so one that is missing or given twice is replaced. */
  #callId(id: string | null | undefined): string {
    const isTaken = this.#calls.some(({ call }) => call.call_id === id);
    if (id && !isTaken) return id;
    return `${id || `call_${this.#responseId}`}_${this.#calls.length}`;
  }

  #finish(out: ModelEvent[]): void {
    this.#isEnded = true;
    if (!this.#isStarted) this.#start({}, out);
    if (!this.#executed.isEmpty) this.#pages = [...this.#pages, ...this.#executed.pages()];
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

/** Whether a chunk means its text and nothing else, whatever is in it. */
function isTextAlone({ usage, x_groq }: ChatChunk, choice: ChatChoice): boolean {
  const { delta, logprobs, finish_reason } = choice;
  if (!delta?.content || usage || x_groq || logprobs?.content || finish_reason) return false;
  if (delta.reasoning_content || delta.reasoning || delta.refusal) return false;
  if (delta.reasoning_details?.length || delta.executed_tools?.length) return false;
  return !delta.tool_calls?.length && !delta.annotations?.length;
}

/** Reasons that say: a tool is asked for. */
const CALLING: ReadonlySet<string> = new Set(["tool_calls", "function_call"]);

/** Some count what was thought beside the completion and not in it: then the total is more than both. */
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
