/**
 * What the interpreter knows: a model request read as a conversation.
 *
 * There is no other memory. Which calls were made and what they gave is read from the items after the
 * last user message, and facts are read from the user messages before it, so the same request always
 * gets the same reply.
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
  const asks = findAsks(request);
  const last = asks.at(-1) ?? -1;
  const attachments = partsOf(items[last]).flatMap((part) => readAttachment(part) ?? []);
  // How to report: an answer is a report already.
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

/** The text parts of the message to be answered, however long they are. */
export function readAsked(request: ModelRequest): readonly string[] {
  return partsOf(request.items[findAsks(request).at(-1) ?? -1]).flatMap(textOf);
}

/** The places of the user's messages, without one that only says that an answer did not fit. */
function findAsks(request: ModelRequest): readonly number[] {
  const asks = request.items.flatMap((item, index) => (isUserMessage(item) ? [index] : []));
  return isRepair(request, asks.at(-1)) ? asks.slice(0, -1) : asks;
}

function partsOf(item: Item | undefined): readonly ContentPart[] {
  return item?.type === "message" ? toParts(item.content) : [];
}

/** Those of the texts that are read, the latest first of all; in their order. */
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
  // Nobody looks for a word in megabytes of white space.
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

/** Each call with the first output for its id after it: some servers use an id more than once. */
function readCalls(items: readonly Item[]): MadeCall[] {
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

/** Characters of calls and their outputs. A plan that saw half of them would tell half of what is. */
const MAX_CALL_CHARS = 2_000_000;

function checkLength(items: readonly Item[]): void {
  const calls = items.filter(({ type }) => type.startsWith("function_call"));
  const chars = countJsonChars(calls);
  if (chars <= MAX_CALL_CHARS) return;
  const message = `The embedded model reads at most ${MAX_CALL_CHARS} characters of tool calls and their results, and here are about ${chars}. Ask for less at once, or use another model.`;
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
