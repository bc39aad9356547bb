/**
 * Turns chat messages into items. One message of an assistant contains what are several items here: its thinking, its
 * words and its calls, in that order.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import {
  type AssistantMessage,
  type ChatCall,
  type ChatMessage,
  type ChatPart,
  type FunctionMessage,
  type SpokenMessage,
  type ToolMessage,
  toInputPart,
  toOutputPart,
} from "./chat-message.ts";

export interface ChatItems {
  readonly items: Item[];
  /** Fields of the messages that items do not have, each once: `messages.name`. */
  readonly ignored: readonly string[];
}

/** Rejects a result that answers no call before it, or a call that has one. */
export function toChatItems(messages: readonly ChatMessage[]): ChatItems {
  const list = new ItemList();
  for (const [at, message] of messages.entries()) list.add(message, at);
  return { items: list.items, ignored: [...list.ignored] };
}

type ResultKind = "function_call_output" | "custom_tool_call_output";

class ItemList {
  readonly items: Item[] = [];
  readonly ignored = new Set<string>();
  /** The kind of result of each call; undefined once the call has its result. */
  readonly #awaited = new Map<string, ResultKind | undefined>();
  /** Calls of the older form, which have no ids, until their result comes. */
  readonly #unnamedCalls: { readonly name: string; readonly callId: string }[] = [];

  add(message: ChatMessage, at: number): void {
    // An item has no author's name. In a function's result the name is the function's.
    if (message.role !== "function" && "name" in message && message.name) {
      this.ignored.add("messages.name");
    }
    switch (message.role) {
      case "assistant":
        return this.#addAssistant(message, at);
      case "tool":
        return this.#addToolResult(message, at);
      case "function":
        return this.#addFunctionResult(message, at);
      default:
        return this.#addSpoken(message);
    }
  }

  #addSpoken({ role, content }: SpokenMessage): void {
    this.items.push({ type: "message", role, content: toInputContent(content) });
  }

  #addAssistant(message: AssistantMessage, at: number): void {
    const thought = toThought(message);
    if (thought) {
      const content = [{ type: "reasoning_text" as const, text: thought }];
      this.items.push({ type: "reasoning", summary: [], content });
    }
    const content = toSaid(message);
    if (content.length > 0) this.items.push({ type: "message", role: "assistant", content });
    for (const call of message.tool_calls ?? []) this.#addCall(call);
    if (message.function_call) this.#addUnnamedCall(message.function_call, at);
    // The id of audio that another server stores; it cannot be heard here.
    if (message.audio) this.ignored.add("messages.audio");
  }

  #addCall(call: ChatCall): void {
    if (call.type === "custom") {
      const { name, input } = call.custom;
      this.#awaited.set(call.id, "custom_tool_call_output");
      this.items.push({ type: "custom_tool_call", call_id: call.id, name, input });
      return;
    }
    this.#awaited.set(call.id, "function_call_output");
    const { name, arguments: text } = call.function;
    this.items.push({ type: "function_call", call_id: call.id, name, arguments: text });
  }

  /**
   * The id is made from the message's position, so that the same conversation gets the same id again.
   */
  #addUnnamedCall(call: { name: string; arguments: string }, at: number): void {
    const { name, arguments: text } = call;
    const callId = `call_function_${at}`;
    this.#unnamedCalls.push({ name, callId });
    this.items.push({ type: "function_call", call_id: callId, name, arguments: text });
  }

  #addToolResult({ tool_call_id: id, content }: ToolMessage, at: number): void {
    const type = this.#awaited.get(id);
    if (type === undefined) {
      const param = `messages[${at}].tool_call_id`;
      const what = this.#awaited.has(id)
        ? "names a call that has a result already"
        : "names no call of the `tool_calls` before it";
      const message = `\`${param}\` ${what}: ${clip(id, 80)}.`;
      throw new Failure("invalid_request", message, { param });
    }
    this.#awaited.set(id, undefined);
    this.items.push({ type, call_id: id, output: toInputContent(content) });
  }

  #addFunctionResult({ name, content }: FunctionMessage, at: number): void {
    const place = this.#unnamedCalls.findIndex((call) => call.name === name);
    const [call] = place === -1 ? [] : this.#unnamedCalls.splice(place, 1);
    if (!call) {
      const param = `messages[${at}].name`;
      const message = `\`${param}\` names no call before it; a \`function\` message answers a \`function_call\`.`;
      throw new Failure("invalid_request", message, { param });
    }
    this.items.push({ type: "function_call_output", call_id: call.callId, output: content ?? "" });
  }
}

function toInputContent(content: string | readonly ChatPart[]): string | ContentPart[] {
  return typeof content === "string" ? content : content.map(toInputPart);
}

/**
 * Plain text stays a string. Empty if the assistant said nothing: some vendors refuse empty text.
 */
function toSaid({ content, refusal }: AssistantMessage): string | ContentPart[] {
  if (typeof content === "string" && !refusal) return content;
  const text = { type: "text" as const, text: typeof content === "string" ? content : "" };
  const parts = Array.isArray(content) ? content : text.text === "" ? [] : [text];
  const said = parts.map(toOutputPart);
  return refusal ? [...said, { type: "refusal", refusal }] : said;
}

/** Both names are in use; a client that sends both means the same. */
function toThought({ reasoning_content, reasoning }: AssistantMessage): string | undefined {
  if (reasoning_content) return reasoning_content;
  return typeof reasoning === "string" ? reasoning : undefined;
}
