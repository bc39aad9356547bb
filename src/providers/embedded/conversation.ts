/**
 * Reads a model request as a conversation, which is all that the interpreter knows.
 *
 * There is no other memory. Calls and their results are read from the items after the last user message,
 * facts from the user messages before it. So the same request always gets the same reply.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { countJsonChars } from "../../base/json-size.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { Item, Message } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { dropReportWish } from "../../protocol/report-wish.ts";
import type { FunctionTool, ToolChoice } from "../../protocol/tools.ts";
import type { ModelRequest } from "../provider.ts";
import { type Attachment, readAttachment } from "./attachments.ts";
import { findOrder, MAX_READ, shorten } from "./prompt.ts";

export interface EmbeddedConversation {
  /** The text parts of the message to be answered, in their order. */
  readonly asked: readonly string[];
  /** The request in the user's own words, without attached text, as far as the two can be told apart. */
  readonly order: string | undefined;
  /** The user's messages before that one, oldest first. */
  readonly earlier: readonly string[];
  /** Calls made since that message, in their order. */
  readonly calls: readonly PastCall[];
  /** The answer to the user's message before that one. */
  readonly before: Before;
  readonly attachments: readonly Attachment[];
  /** The functions that may be called now. */
  readonly tools: readonly FunctionTool[];
}

export interface Before {
  /** The last answer as text. */
  readonly said: string | undefined;
  readonly calls: readonly PastCall[];
}

export interface PastCall {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly output: string | undefined;
}

export function readConversation(request: ModelRequest): EmbeddedConversation {
  const { items } = request;
  const asks = findAsks(request);
  const last = asks.at(-1) ?? -1;
  const attachments = partsOf(items[last]).flatMap((part) => readAttachment(part) ?? []);
  // The words on how to report are dropped: every answer is a report.
  const asked = readAsked(request).map(dropReportWish).map(shorten);
  return {
    asked,
    order: findOrder(asked.filter((text) => text.trim() !== "")),
    earlier: keepLatest(asks.slice(0, -1).map((index) => messageText(items[index]))),
    calls: readCalls(items.slice(last + 1)),
    before: readBefore(items.slice((asks.at(-2) ?? -1) + 1, Math.max(last, 0))),
    attachments,
    tools: callableTools(request),
  };
}

/** The text parts of the message to be answered, of any length. */
export function readAsked(request: ModelRequest): readonly string[] {
  return partsOf(request.items[findAsks(request).at(-1) ?? -1]).flatMap(textOf);
}

/** The positions of the user's messages, except one that only says that an answer did not fit the schema. */
function findAsks(request: ModelRequest): readonly number[] {
  const asks = request.items.flatMap((item, index) => (isUserMessage(item) ? [index] : []));
  return isRepair(request, asks.at(-1)) ? asks.slice(0, -1) : asks;
}

function partsOf(item: Item | undefined): readonly ContentPart[] {
  return item?.type === "message" ? toParts(item.content) : [];
}

/** The texts that are read, in their order. If there are too many, the latest are kept. */
function keepLatest(texts: readonly string[]): readonly string[] {
  let left = MAX_READ;
  const kept = texts.toReversed().filter(({ length }) => {
    if (length > left) return false;
    left -= length;
    return true;
  });
  return kept.reverse();
}

/** All text of a message's content or a tool's output. */
export function toText(content: string | readonly ContentPart[]): string {
  const texts = toParts(content).flatMap(textOf);
  const [only] = texts;
  return texts.length === 1 && only !== undefined ? only : texts.join("\n");
}

/** True for a message of the user. An empty one is a nudge to continue, not a request. */
function isUserMessage(item: Item): item is Message {
  return item.type === "message" && item.role === "user" && toParts(item.content).length > 0;
}

/**
 * True if the last message is a repair request. After an answer that does not fit the schema, the loop says
 * so in a user message. The request to be answered is then still the one before it.
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
  // Megabytes of white space are not searched for a word.
  const isEmpty = content.length <= MAX_READ && content.trim() === "";
  return isEmpty ? [] : [{ type: "input_text", text: content }];
}

function textOf(part: ContentPart): string | never[] {
  return textOfPart(part) ?? [];
}

function readBefore(items: readonly Item[]): Before {
  const answer = items.findLast(
    (item) =>
      item.type === "message" && item.role === "assistant" && messageText(item).trim() !== "",
  );
  return { said: answer && messageText(answer).trim(), calls: readCalls(items) };
}

/** Pairs each call with the first output for its id after it, because some servers use an id more than once. */
function readCalls(items: readonly Item[]): PastCall[] {
  checkLength(items);
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

/**
 * The most characters of calls and their outputs. A plan that saw half of them would report half of the
 * facts.
 */
const MAX_CALL_CHARS = 2_000_000;

function checkLength(items: readonly Item[]): void {
  const calls = items.filter(({ type }) => type.startsWith("function_call"));
  const chars = countJsonChars(calls);
  if (chars <= MAX_CALL_CHARS) return;
  const message = `The embedded model reads at most ${MAX_CALL_CHARS} characters of tool calls and their results. These have about ${chars}. Ask for less at once, or use another model.`;
  throw new Failure("context_exceeded", message);
}

function callableTools({ tools, tool_choice }: ModelRequest): FunctionTool[] {
  const functions = tools.filter((tool) => tool.type === "function");
  if (tool_choice === "none") return [];
  const allowed = allowedNames(tool_choice);
  return allowed ? functions.filter(({ name }) => allowed.has(name)) : functions;
}

function allowedNames(choice: ToolChoice): Set<string> | undefined {
  if (typeof choice === "string" || choice.type !== "allowed_tools") return undefined;
  return new Set(choice.tools.flatMap(({ name }) => (typeof name === "string" ? [name] : [])));
}
