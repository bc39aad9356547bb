/**
 * Writes the events of a response as the chunks of a chat stream.
 *
 * Order: nothing before there is output, so that a server may still answer with a status of its own; then a chunk
 * with the role, the deltas, one with the finish reason and, if requested, one with the usage. A stream that breaks
 * ends with an `error` in place of the last two. The server writes `[DONE]`.
 */

import { Failure } from "../../base/failure.ts";
import type {
  EmittedAnnotation,
  EmittedEvent,
  EmittedItem,
  EmittedLogprob,
  EmittedResponse,
} from "../../protocol/emitted.ts";
import type { OwnField } from "../fold/ignored.ts";
import type {
  ChatCallDelta,
  ChatStreamError,
  CompletionChunk,
  CompletionDelta,
} from "./chat-chunk.ts";
import {
  CANCELLED,
  type ChatCompletion,
  type ChatHead,
  type ChatLogprobs,
  type CompletionChoice,
  type FinishReason,
  toChatCompletion,
  toChatUsage,
  toFinishReason,
  toHead,
} from "./chat-completion.ts";
import {
  type CallSpelling,
  isCall,
  THOUGHT_BREAK,
  textOf,
  toCitations,
  toThought,
} from "./completion-message.ts";

export interface ChatWriterOptions {
  /** The model name in the answer. */
  readonly model: string;
  readonly includeUsage: boolean;
  readonly calls?: CallSpelling | undefined;
  /** Fields of the request that were left out before the model was asked. */
  readonly ignored?: readonly string[] | undefined;
  /** The choice that it writes, of several; the only one when left out. */
  readonly choice?: CompletionChoice | undefined;
}

export interface ChatWriter {
  /** Turns one event into the JSON of no, one or several frames. */
  write(event: EmittedEvent): string[];
  /** True if it wrote an error: nothing follows it. */
  isBroken(): boolean;
  /**
   * The plain answer. Rejects like `toChatCompletion`; call it after the last event was written.
   */
  completion(): ChatCompletion;
}

const CUT_CALL: ChatStreamError["error"] = {
  message: "A tool call was interrupted. Send the request again.",
  type: "server_error",
  param: null,
  code: "server_error",
};

export function createChatWriter(options: ChatWriterOptions): ChatWriter {
  const writer = new ChunkWriter(options);
  return {
    write: (event) => writer.write(event),
    isBroken: () => writer.isBroken,
    completion: () => writer.completion(),
  };
}

type Kind = "text" | "refusal" | "thought" | "summary" | "call";

/** The place of a text in the output. */
interface Place {
  readonly kind: Kind;
  readonly item: number;
  readonly part: number;
}

/** How much of one text was written so far. */
interface Told {
  text: string;
  logprobs: number;
  annotations: number;
  /** Where it begins in the text of the whole message. */
  readonly offset: number;
}

interface CallPlace {
  readonly index: number;
  readonly isCustom: boolean;
}

class ChunkWriter {
  readonly #options: ChatWriterOptions;
  #response: EmittedResponse | undefined;
  #head: ChatHead | undefined;
  #out: string[] = [];
  #isOpen = false;
  #isBroken = false;
  /** True if a call was cut: the client would take the text that came as its arguments. */
  #hasCutCall = false;
  #textLength = 0;
  #hasThought = false;
  readonly #told = new Map<string, Told>();
  /** By place in the output. */
  readonly #calls = new Map<number, CallPlace>();

  constructor(options: ChatWriterOptions) {
    this.#options = options;
  }

  completion(): ChatCompletion {
    if (!this.#response) throw new Failure("internal", "The response has not begun.");
    return toChatCompletion(this.#response, this.#options);
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  write(event: EmittedEvent): string[] {
    this.#out = [];
    this.#read(event);
    return this.#out;
  }

  #read(event: EmittedEvent): void {
    switch (event.type) {
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        return this.#know(event.response);
      case "response.output_item.added":
        return this.#addCall(event.output_index, event.item);
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#argue(event.output_index, event.delta);
      case "response.output_item.done":
        return this.#endCall(event.output_index, event.item);
      case "response.completed":
      case "response.incomplete":
        return this.#end(event.response);
      case "response.failed":
        return this.#fail(event.response);
      case "error":
        return this.#break(event.error);
      default:
        return this.#readText(event);
    }
  }

  /**
   * The `done` event of a text has the text that no delta had: not every vendor sends its answer in pieces.
   */
  #readText(event: EmittedEvent): void {
    switch (event.type) {
      case "response.output_text.delta":
        return this.#say(placeOf("text", event), event.delta, event.logprobs);
      case "response.output_text.done": {
        const place = placeOf("text", event);
        const { logprobs } = this.#toldOf(place);
        return this.#say(place, this.#rest(place, event.text), event.logprobs.slice(logprobs));
      }
      case "response.output_text.annotation.added":
        return this.#cite(placeOf("text", event), [event.annotation]);
      case "response.content_part.done": {
        if (event.part.type !== "output_text") return;
        const place = placeOf("text", event);
        const { annotations } = this.#toldOf(place);
        return this.#cite(place, event.part.annotations.slice(annotations));
      }
      case "response.refusal.delta":
        return this.#refuse(placeOf("refusal", event), event.delta);
      case "response.refusal.done": {
        const place = placeOf("refusal", event);
        return this.#refuse(place, this.#rest(place, event.refusal));
      }
      default:
        return this.#readThought(event);
    }
  }

  #readThought(event: EmittedEvent): void {
    switch (event.type) {
      case "response.reasoning_text.delta":
        return this.#think(placeOf("thought", event), event.delta);
      case "response.reasoning_text.done": {
        const place = placeOf("thought", event);
        return this.#think(place, this.#rest(place, event.text));
      }
      case "response.reasoning_summary_text.delta":
        return this.#think(placeOf("summary", event), event.delta);
      case "response.reasoning_summary_text.done": {
        const place = placeOf("summary", event);
        return this.#think(place, this.#rest(place, event.text));
      }
      default:
      // The other events are about items that chat does not have.
    }
  }

  #know(response: EmittedResponse): void {
    this.#response = response;
    const own = toHead(response, this.#options.model);
    this.#head = this.#options.choice?.toHead(own) ?? own;
  }

  #say(place: Place, delta: string, logprobs: readonly EmittedLogprob[]): void {
    if (delta === "" && logprobs.length === 0) return;
    const told = this.#toldOf(place);
    told.text += delta;
    told.logprobs += logprobs.length;
    this.#textLength += delta.length;
    this.#open("");
    const likely = logprobs.length > 0 ? { content: [...logprobs], refusal: null } : null;
    this.#emitChoice({ content: delta }, { logprobs: likely });
  }

  #cite(place: Place, annotations: readonly EmittedAnnotation[]): void {
    const told = this.#toldOf(place);
    told.annotations += annotations.length;
    const citations = toCitations(annotations, told.offset);
    if (citations.length === 0) return;
    this.#open("");
    this.#emitChoice({ annotations: citations });
  }

  #refuse(place: Place, delta: string): void {
    if (delta === "") return;
    this.#toldOf(place).text += delta;
    this.#open(null);
    this.#emitChoice({ refusal: delta });
  }

  #think(place: Place, delta: string): void {
    if (delta === "") return;
    const told = this.#toldOf(place);
    const isNext = told.text === "" && this.#hasThought;
    told.text += delta;
    this.#hasThought = true;
    this.#open("");
    this.#emitChoice(toThought(isNext ? THOUGHT_BREAK + delta : delta));
  }

  #addCall(outputIndex: number, item: EmittedItem): void {
    if (!isCall(item)) return;
    const index = this.#calls.size;
    const isCustom = item.type === "custom_tool_call";
    this.#calls.set(outputIndex, { index, isCustom });
    const { call_id: id, name } = item;
    if (this.#options.calls === "function_call") {
      if (index > 0) return;
      this.#open(null);
      return this.#emitChoice({ function_call: { name, arguments: "" } });
    }
    const begun: ChatCallDelta = isCustom
      ? { index, id, type: "custom", custom: { name, input: "" } }
      : { index, id, type: "function", function: { name, arguments: "" } };
    this.#open(null);
    this.#emitChoice({ tool_calls: [begun] });
  }

  #endCall(outputIndex: number, item: EmittedItem): void {
    if (!isCall(item)) return;
    if (item.status === "incomplete") this.#hasCutCall = true;
    const place: Place = { kind: "call", item: outputIndex, part: 0 };
    this.#argue(outputIndex, this.#rest(place, textOf(item)));
  }

  #argue(outputIndex: number, delta: string): void {
    const call = this.#calls.get(outputIndex);
    if (!call || delta === "") return;
    this.#toldOf({ kind: "call", item: outputIndex, part: 0 }).text += delta;
    const { index, isCustom } = call;
    if (this.#options.calls === "function_call") {
      if (index === 0) this.#emitChoice({ function_call: { arguments: delta } });
      return;
    }
    const more = isCustom ? { custom: { input: delta } } : { function: { arguments: delta } };
    this.#emitChoice({ tool_calls: [{ index, ...more }] });
  }

  #end(response: EmittedResponse): void {
    this.#know(response);
    if (response.status === "cancelled") {
      return this.#break({ message: CANCELLED, type: "cancelled", param: null, code: "cancelled" });
    }
    // Another process has made the answer again, after the call that was cut.
    if (response.status === "completed" && this.#hasCutCall) return this.#break(CUT_CALL);
    this.#open("");
    const { calls = "tool_calls", includeUsage } = this.#options;
    const finish = toFinishReason(response, calls);
    this.#emitChoice({}, { finish, offshoot: this.#toOwnField(response) });
    const { usage } = response;
    const { choice } = this.#options;
    if (choice && usage) choice.onUsage(usage);
    else if (includeUsage && usage) this.#emit({ choices: [], usage: toChatUsage(usage) });
  }

  #toOwnField({ offshoot }: EmittedResponse): OwnField | undefined {
    const ignored = [...(offshoot?.ignored ?? []), ...(this.#options.ignored ?? [])];
    if (offshoot?.stop) return { ignored, stop: offshoot.stop };
    return ignored.length > 0 ? { ignored } : undefined;
  }

  #fail(response: EmittedResponse): void {
    this.#know(response);
    const { error } = response;
    const message = error?.message ?? "The response failed.";
    const code = error?.code ?? "server_error";
    this.#break({ message, type: "server_error", param: null, code });
  }

  /** Once: an `error` event comes before the `response.failed` that says the same. */
  #break({ message, type, param, code }: ChatStreamError["error"]): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    const sent: ChatStreamError = { error: { message, type, param, code } };
    this.#out.push(JSON.stringify(sent));
  }

  /**
   * Clients read the role from a separate chunk; `content` is null before output that is not text.
   */
  #open(content: "" | null): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#emitChoice({ role: "assistant", content, refusal: null });
  }

  #emitChoice(
    delta: CompletionDelta,
    more: {
      logprobs?: ChatLogprobs | null;
      finish?: FinishReason;
      offshoot?: OwnField | undefined;
    } = {},
  ): void {
    const { logprobs = null, finish = null, offshoot } = more;
    const index = this.#options.choice?.index ?? 0;
    const choices = [{ index, delta, logprobs, finish_reason: finish }];
    this.#emit(offshoot ? { choices, offshoot } : { choices });
  }

  #emit(body: Pick<CompletionChunk, "choices" | "usage" | "offshoot">): void {
    if (!this.#head) throw new Failure("internal", "A response's events begin with the response.");
    const unknown = this.#options.includeUsage ? { usage: null } : {};
    const chunk: CompletionChunk = {
      ...this.#head,
      object: "chat.completion.chunk",
      ...unknown,
      ...body,
    };
    this.#out.push(JSON.stringify(chunk));
  }

  #toldOf({ kind, item, part }: Place): Told {
    const key = `${kind}:${item}:${part}`;
    const known = this.#told.get(key);
    if (known) return known;
    const told = { text: "", logprobs: 0, annotations: 0, offset: this.#textLength };
    this.#told.set(key, told);
    return told;
  }

  /** The part of the whole text that is not written yet. Written text cannot be taken back. */
  #rest(place: Place, whole: string): string {
    const { text } = this.#toldOf(place);
    return whole.startsWith(text) ? whole.slice(text.length) : "";
  }
}

function placeOf(
  kind: Kind,
  event: { output_index: number; content_index?: number; summary_index?: number },
): Place {
  const part = event.content_index ?? event.summary_index ?? 0;
  return { kind, item: event.output_index, part };
}
