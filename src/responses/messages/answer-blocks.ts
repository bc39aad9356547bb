/**
 * Turns items of an answer into content blocks. Messages, thoughts and calls for the client are streamed
 * (`message-writer.ts`); the blocks of this file are the same, whole.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type {
  EmittedAnnotation,
  EmittedItem,
  EmittedReasoning,
  EmittedText,
} from "../../protocol/emitted.ts";
import { BLOCKS, CALL_FIELDS, CONTAINER, FOREIGN } from "../../protocol/messages-blocks.ts";
import { CALL_PREFIX, MCP_PREFIX, OWN_INDEX, toOwnContent } from "./hosted-blocks.ts";
import type { MessagesAnswerOptions } from "./messages-wishes.ts";
import { toBlankSignature, toHiddenThought, toThoughtBlock } from "./thought-signature.ts";

type BlockWishes = Pick<MessagesAnswerOptions, "thinking" | "summaryOf" | "clientNames">;

/** A block of an answer; kinds of the vendor's own pass. */
export type AnswerBlock = JsonObject & { readonly type: string };

/** All blocks of an answer, in order. `idOf` returns the id under which a call is shown. */
export function toBlocks(
  output: readonly EmittedItem[],
  answer: BlockWishes,
  idOf: (callId: string) => string,
): AnswerBlock[] {
  if (output.length === 1 && output[0]?.type === "message") return toWholeBlocks(output[0], {});
  const { thinking, clientNames } = answer;
  const answered = answeredCalls(output);
  const fields = findCallFields(output);
  const toWhole = createWholeBlocks(answer);
  let held: AnswerBlock[] = [];
  return output.flatMap((item): AnswerBlock[] => {
    if (item.type === "reasoning") {
      const thought = toThought(item, thinking);
      if (thinking !== "hidden") return thought;
      held.push(...thought);
      return [];
    }
    if (item.type !== "function_call") return toWhole(item);
    if (answered.has(item.call_id)) return [];
    // A client that asked for no thoughts gets one only if its vendor wants it back: before a call. It comes after the
    // text that it was thought for, because a stream does not know yet whether a call follows.
    const before = held;
    held = [];
    const input = readInput(item.arguments);
    const name = clientNames.get(item.name) ?? item.name;
    const call = { type: "tool_use", id: idOf(item.call_id), name, input };
    return [...before, { ...call, ...fields.get(item.call_id) }];
  });
}

function toThought(
  item: EmittedReasoning,
  thinking: MessagesAnswerOptions["thinking"],
): AnswerBlock[] {
  const block = thinking === "hidden" ? toHiddenThought(item) : toThoughtBlock(item);
  if (!block) return [];
  const isBlank = thinking === "omitted" && block.type === "thinking";
  const blank = { thinking: "", signature: toBlankSignature(item) };
  return [(isBlank ? { ...block, ...blank } : block) as unknown as AnswerBlock];
}

/** Calls with a result in the response: the server made them. */
export function answeredCalls(output: readonly EmittedItem[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const item of output) if (item.type === "function_call_output") ids.add(item.call_id);
  return ids;
}

/**
 * Items that are shown as a whole, when they have ended. For one answer: the result of a search for tools names its
 * call.
 */
export function createWholeBlocks({
  summaryOf,
  clientNames,
}: Omit<BlockWishes, "thinking">): (item: EmittedItem) => AnswerBlock[] {
  const searches: string[] = [];
  return (item) => {
    if (item.type === "tool_search_call") searches.push(toCallId(item as unknown as JsonObject));
    const search = item.type === "tool_search_output" ? searches.shift() : undefined;
    return toWholeBlocks(item, { search, summaryOf, clientNames });
  };
}

interface Around extends Partial<Omit<BlockWishes, "thinking">> {
  /** The call that these results belong to. */
  readonly search?: string | undefined;
}

function toWholeBlocks(
  item: EmittedItem,
  { search, summaryOf, clientNames }: Around,
): AnswerBlock[] {
  const given = item as unknown as JsonObject;
  const own = given[BLOCKS];
  if (isJsonObject(own) && Array.isArray(own["blocks"])) return own["blocks"] as AnswerBlock[];
  switch (item.type) {
    case "message":
      return item.content.flatMap((part): AnswerBlock[] => {
        if (part.type === "refusal") return toText(part.refusal);
        return part.type === "output_text" ? toText(part.text, toCitations(part)) : [];
      });
    case "web_search_call":
      return item.action?.type === "search" ? toSearch(given) : toFetch(given);
    case "code_interpreter_call":
      return toCode(given);
    case "tool_search_call":
      return toToolSearch(given);
    case "tool_search_output":
      return search === undefined ? [] : toFoundTools(given, search, clientNames);
    case "mcp_call":
      return toMcp(given);
    case "compaction":
      return [toCompaction(item.encrypted_content, summaryOf)];
    default:
      return toForeign(given);
  }
}

/** A compaction without text would count as a failed one. */
function toCompaction(sealed: string, summaryOf: MessagesAnswerOptions["summaryOf"]): AnswerBlock {
  return { type: "compaction", content: summaryOf?.(sealed) ?? null, encrypted_content: sealed };
}

function toText(text: string, citations: readonly JsonObject[] = []): AnswerBlock[] {
  if (text === "") return [];
  return [{ type: "text", text, citations: citations.length > 0 ? citations : null }];
}

export function toCitations({
  annotations,
  text,
}: Pick<EmittedText, "annotations" | "text">): JsonObject[] {
  return annotations.flatMap((annotation): JsonObject[] => {
    const citation = toCitation(annotation, text);
    return citation ? [citation] : [];
  });
}

/** Undefined if the API does not have that kind. */
export function toCitation(annotation: EmittedAnnotation, text: string): JsonObject | undefined {
  const own = (annotation as unknown as JsonObject)[BLOCKS];
  if (isJsonObject(own)) return own;
  if (annotation.type !== "url_citation") return undefined;
  const { url, title, start_index, end_index } = annotation;
  const cited_text = text.slice(start_index, end_index);
  const place = { type: "web_search_result_location", url, title: title || null };
  return { ...place, cited_text, encrypted_index: OWN_INDEX };
}

/** Clients expect an object; another value is put where the vendor's own guide puts it. */
export function readInput(text: string): JsonObject {
  const input = tryParseJson(text === "" ? "{}" : text);
  return isJsonObject(input) ? input : { INVALID_JSON: text };
}

function toCall(item: JsonObject, name: string, input: JsonObject): AnswerBlock {
  return { type: "server_tool_use", id: toCallId(item), name, input };
}

function toCallId({ id }: JsonObject): string {
  return `${CALL_PREFIX}${textOf(id)}`;
}

function toSearch(item: JsonObject): AnswerBlock[] {
  const action = isJsonObject(item["action"]) ? item["action"] : {};
  const listed = item["results"] ?? action["sources"];
  const found = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
  const results = found.flatMap(({ url, title, snippet, text }) =>
    typeof url === "string"
      ? [
          {
            type: "web_search_result",
            url,
            title: textOf(title) || url,
            page_age: null,
            encrypted_content: toOwnContent({ snippet: textOf(snippet), text: textOf(text) }),
          },
        ]
      : [],
  );
  const failed = { type: "web_search_tool_result_error", error_code: toErrorCode(item) };
  const content = item["status"] === "failed" ? failed : results;
  const query = textOf(action["query"]);
  return [
    toCall(item, "web_search", { query }),
    { type: "web_search_tool_result", tool_use_id: toCallId(item), content },
  ];
}

function toErrorCode({ error }: JsonObject): string {
  const message = isJsonObject(error) ? textOf(error["message"]) : "";
  return /at most|limit/i.test(message) ? "max_uses_exceeded" : "unavailable";
}

function toFetch(item: JsonObject): AnswerBlock[] {
  const action = isJsonObject(item["action"]) ? item["action"] : {};
  const url = textOf(action["url"]);
  const [first] = Array.isArray(item["results"]) ? item["results"].filter(isJsonObject) : [];
  const source = { type: "text", media_type: "text/plain", data: textOf(first?.["text"]) };
  const document = { type: "document", source, title: null, citations: null };
  const content =
    item["status"] === "failed"
      ? { type: "web_fetch_tool_result_error", error_code: toErrorCode(item) }
      : { type: "web_fetch_result", url, content: document, retrieved_at: null };
  return [
    toCall(item, "web_fetch", { url }),
    { type: "web_fetch_tool_result", tool_use_id: toCallId(item), content },
  ];
}

function toCode(item: JsonObject): AnswerBlock[] {
  const outputs = Array.isArray(item["outputs"]) ? item["outputs"].filter(isJsonObject) : [];
  const logs = outputs.map(({ logs }) => textOf(logs)).filter((text) => text !== "");
  const failed = item["status"] === "failed";
  const printed = logs.join("\n");
  const content = {
    type: "code_execution_result",
    return_code: failed ? 1 : 0,
    content: [],
    ...(failed ? { stdout: "", stderr: printed } : { stdout: printed, stderr: "" }),
  };
  return [
    toCall(item, "code_execution", { code: textOf(item["code"]) }),
    { type: "code_execution_tool_result", tool_use_id: toCallId(item), content },
  ];
}

function toToolSearch(item: JsonObject): AnswerBlock[] {
  const given = item["arguments"];
  return [toCall(item, "tool_search_tool_bm25", isJsonObject(given) ? given : {})];
}

function toFoundTools(
  item: JsonObject,
  tool_use_id: string,
  clientNames: Around["clientNames"],
): AnswerBlock[] {
  const tools = Array.isArray(item["tools"]) ? item["tools"].filter(isJsonObject) : [];
  const tool_references = tools.map(({ name }) => {
    const known = textOf(name);
    return { type: "tool_reference", tool_name: clientNames?.get(known) ?? known };
  });
  const content = { type: "tool_search_tool_search_result", tool_references };
  return [{ type: "tool_search_tool_result", tool_use_id, content }];
}

function toMcp(item: JsonObject): AnswerBlock[] {
  const id = `${MCP_PREFIX}${textOf(item["id"])}`;
  const { error = null } = item;
  const text = error === null ? textOf(item["output"]) : toErrorText(error);
  const server_name = textOf(item["server_label"]);
  const input = readInput(textOf(item["arguments"]));
  return [
    { type: "mcp_tool_use", id, name: textOf(item["name"]), server_name, input },
    {
      type: "mcp_tool_result",
      tool_use_id: id,
      is_error: error !== null,
      content: [{ type: "text", text, citations: null }],
    },
  ];
}

/** A text in older answers. In newer ones, an object with a message, or with the content that the server gave. */
function toErrorText(error: Json): string {
  if (!isJsonObject(error)) return textOf(error);
  const { message, content } = error;
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return textOf(message) || parts.map((part) => textOf(part["text"])).join("\n");
}

/** A block that only its vendor understands, unchanged. */
function toForeign({ type, block }: JsonObject): AnswerBlock[] {
  const kind = textOf(type);
  if (!kind.startsWith(FOREIGN) || !isJsonObject(block)) return [];
  const isBeside = kind === FOREIGN + CONTAINER || kind === FOREIGN + CALL_FIELDS;
  return isBeside ? [] : [block as AnswerBlock];
}

/** The machine on which the vendor ran programs of the answer. */
export function findContainer(output: readonly EmittedItem[]): JsonObject | null {
  for (const item of output) {
    const { type, block } = item as unknown as JsonObject;
    if (type !== FOREIGN + CONTAINER || !isJsonObject(block)) continue;
    const { type: _, ...container } = block;
    return container;
  }
  return null;
}

/** Fields of calls besides their input, by the ids of the calls. */
function findCallFields(output: readonly EmittedItem[]): ReadonlyMap<string, JsonObject> {
  return new Map(output.flatMap((item) => toCallFields(item) ?? []));
}

export function toCallFields(item: EmittedItem): [string, JsonObject][] | undefined {
  const { type, id, block } = item as unknown as JsonObject;
  if (type !== FOREIGN + CALL_FIELDS || !isJsonObject(block) || typeof id !== "string")
    return undefined;
  const { type: _, id: __, ...fields } = block;
  return [[id, fields]];
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A whole block as it is streamed: how it begins, and what comes then. */
export function toDeltas(whole: AnswerBlock): {
  readonly start: AnswerBlock;
  readonly deltas: readonly JsonObject[];
} {
  const { input, text = "", citations } = whole;
  if (whole.type === "text") {
    const cited = (Array.isArray(citations) ? citations : []).map((citation) => ({
      type: "citations_delta",
      citation,
    }));
    return { start: { type: "text", text: "" }, deltas: [{ type: "text_delta", text }, ...cited] };
  }
  if (whole.type === "compaction") {
    const { content = null, encrypted_content = null } = whole;
    const start = { ...whole, content: null, encrypted_content: null };
    return { start, deltas: [{ type: "compaction_delta", content, encrypted_content }] };
  }
  if (input === undefined) return { start: whole, deltas: [] };
  const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
  return { start: { ...whole, input: {} }, deltas: [delta] };
}
