/**
 * What the interpreter knows: a model request read as a conversation.
 *
 * There is no other memory. Which calls were made and what they gave is read from the items after the
 * last user message, and facts are read from the user messages before it, so the same request always
 * gets the same reply.
 */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { Item, Message } from "../../protocol/items.ts";
import { dropReportWish } from "../../protocol/report-wish.ts";
import type { FunctionTool, ToolChoice } from "../../protocol/tools.ts";
import type { ModelRequest } from "../provider.ts";
import { type Attachment, readAttachment } from "./attachments.ts";
import { findOrder } from "./prompt.ts";

export interface Conversation {
  /** The text parts of the message to be answered, in their order. */
  readonly asked: readonly string[];
  /** The user's own words in it, as far as they can be told from what it brings along. */
  readonly order: string | undefined;
  /** The user's messages before that one, oldest first. */
  readonly earlier: readonly string[];
  /** Calls made since that message, in their order. */
  readonly calls: readonly MadeCall[];
  /** What came of the user's message before that one. */
  readonly before: Before;
  readonly attachments: readonly Attachment[];
  /** The functions that may be called now. */
  readonly tools: readonly FunctionTool[];
}

export interface Before {
  /** The last answer in words. */
  readonly said: string | undefined;
  readonly calls: readonly MadeCall[];
}

export interface MadeCall {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly output: string | undefined;
}

export function readConversation(request: ModelRequest): Conversation {
  const { items } = request;
  const asks = items.flatMap((item, index) => (isUserMessage(item) ? [index] : []));
  if (isRepair(request, asks.at(-1))) asks.pop();
  const last = asks.at(-1) ?? -1;
  const message = items[last];
  const parts = message?.type === "message" ? toParts(message.content) : [];
  const attachments = parts.flatMap((part) => readAttachment(part) ?? []);
  // How to report: an answer is a report already.
  const asked = parts.flatMap(textOf).map(dropReportWish);
  return {
    asked,
    order: findOrder(asked.filter((text) => text.trim() !== "")),
    earlier: asks.slice(0, -1).map((index) => messageText(items[index])),
    calls: readCalls(items.slice(last + 1)),
    before: readBefore(items.slice((asks.at(-2) ?? -1) + 1, Math.max(last, 0))),
    attachments,
    tools: callableTools(request),
  };
}

/** All text of a message's content or a tool's output. */
export function toText(content: string | readonly ContentPart[]): string {
  return toParts(content).flatMap(textOf).join("\n");
}

/** An empty user message is a nudge to go on, not a request. */
function isUserMessage(item: Item): item is Message {
  return item.type === "message" && item.role === "user" && toParts(item.content).length > 0;
}

/**
 * A loop that got an answer which does not fit the schema says so in a user message. The request to
 * be answered is then still the one before it.
 */
function isRepair({ format, items }: ModelRequest, last: number | undefined): boolean {
  if (format.type === "text" || last === undefined) return false;
  const before = items[last - 1];
  const afterAnswer = before?.type === "message" && before.role === "assistant";
  const text = messageText(items[last]);
  return (
    afterAnswer &&
    /\b(json|schema)\b/i.test(text) &&
    /\b(in)?valid|\bfit|\bmatch|\bpars/i.test(text)
  );
}

function messageText(item: Item | undefined): string {
  return item?.type === "message" ? toText(item.content) : "";
}

function toParts(content: string | readonly ContentPart[]): readonly ContentPart[] {
  if (typeof content !== "string") return content;
  return content.trim() === "" ? [] : [{ type: "input_text", text: content }];
}

function textOf(part: ContentPart): string[] {
  return "text" in part && typeof part.text === "string" ? [part.text] : [];
}

function readBefore(items: readonly Item[]): Before {
  const answer = items.findLast(
    (item) =>
      item.type === "message" && item.role === "assistant" && messageText(item).trim() !== "",
  );
  return { said: answer && messageText(answer).trim(), calls: readCalls(items) };
}

/** Each call with the first output for its id after it: some servers use an id more than once. */
function readCalls(items: readonly Item[]): MadeCall[] {
  const outputs = new Map<string, string[]>();
  for (const item of items) {
    if (item.type !== "function_call_output") continue;
    outputs.set(item.call_id, [...(outputs.get(item.call_id) ?? []), toText(item.output)]);
  }
  return items.flatMap((item) => {
    if (item.type !== "function_call") return [];
    const parsed = tryParseJson(item.arguments);
    const given = isJsonObject(parsed) ? parsed : {};
    return [{ name: item.name, arguments: given, output: outputs.get(item.call_id)?.shift() }];
  });
}

function callableTools({ tools, toolChoice }: ModelRequest): FunctionTool[] {
  const functions = tools.filter((tool) => tool.type === "function");
  if (toolChoice === "none") return [];
  const allowed = allowedNames(toolChoice);
  return allowed ? functions.filter(({ name }) => allowed.has(name)) : functions;
}

function allowedNames(choice: ToolChoice): Set<string> | undefined {
  if (typeof choice === "string" || choice.type !== "allowed_tools") return undefined;
  return new Set(choice.tools.flatMap(({ name }) => (typeof name === "string" ? [name] : [])));
}
