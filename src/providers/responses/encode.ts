/**
 * Encodes a model request as a Responses body.
 *
 * A conversation continues after a tool call in one of two ways. `chain` names the last answer and sends
 * only newer items; `replay` sends every item and names no answer. A server with the older vocabulary
 * (`tool_call`) gets its results as `tool_result`, any other as `function_call_output`.
 */

import { asJsonObject, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { FunctionCallOutput, Item, Message } from "../../protocol/items.ts";
import type { Continuation } from "../../protocol/model-events.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { isSealed } from "../../protocol/sealed-reasoning.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import { JSON_RULE, mentionsJson } from "../json-rule.ts";
import type { ModelOptions, ModelRequest, OutputFormat, ReasoningOptions } from "../provider.ts";
import { isOthers, toOwnTool, withoutMark } from "../vendors/native-tools.ts";
import { type Quirks, toBody } from "../wire.ts";

export function encodeRequest(request: ModelRequest, quirks: Quirks): JsonObject {
  const { model, instructions, temperature, top_p, max_output_tokens, reasoning } = request;
  const { verbosity, ...told } = request.options ?? {};
  const chained = chainedTo(request, quirks);
  const store = quirks.store ?? false;
  const hasTools = request.tools.length > 0;
  const body: JsonObject = {
    model,
    input: withInstructions(
      withJsonRule(
        request,
        chained ? encodeSince(request, chained) : encodeAll(request.items, { store, quirks }),
      ),
      { request, quirks, isChained: chained !== undefined },
    ),
    previous_response_id: chained?.response_id,
    instructions: quirks.instructionsAsMessage ? undefined : instructions,
    stream: !request.whole,
    store,
    temperature,
    top_p,
    max_output_tokens,
    reasoning: encodeReasoning(reasoning),
    tools: hasTools ? request.tools.map((tool) => encodeTool(tool, quirks)) : undefined,
    tool_choice: hasTools ? encodeToolChoice(request.tool_choice) : undefined,
    parallel_tool_calls: hasTools ? request.parallel_tool_calls : undefined,
    text: encodeText(request.format, verbosity),
    include: encodeInclude(request, store),
    // Our options have the API's own names.
    ...told,
  };
  return toBody(body, quirks);
}

/** The API sends probabilities only if they are requested here too. */
function encodeInclude(
  { reasoning, options }: ModelRequest,
  store: boolean,
): readonly string[] | undefined {
  const include = reasoning.sealed && !store ? ["reasoning.encrypted_content"] : [];
  if (options?.top_logprobs !== undefined) include.push("message.output_text.logprobs");
  return include.length > 0 ? include : undefined;
}

/** The answer to chain to; undefined if the whole conversation must be sent. */
export function chainedTo(request: ModelRequest, quirks: Quirks): Continuation | undefined {
  const at = request.previous?.at;
  if (!at?.response_id) return undefined;
  const way = request.continuation ?? quirks.continuation ?? "auto";
  if (way === "auto") return at.stored || at.dialect === "tool_call" ? at : undefined;
  return way === "chain" ? at : undefined;
}

/** Items that the server has not seen: tool results, and newer messages of the user. */
function encodeSince({ items, previous }: ModelRequest, at: Continuation): JsonObject[] {
  const since = items.slice(previous?.covered ?? 0);
  return since.map((item) => {
    const isResult = item.type === "function_call_output";
    return isResult && at.dialect === "tool_call" ? encodeLegacyResult(item) : encodeItem(item);
  });
}

/** The API refuses `json_object` unless the input (not the instructions) contains "JSON". */
function withJsonRule({ format, items }: ModelRequest, input: JsonObject[]): JsonObject[] {
  if (format.type !== "json_object" || mentionsJson(undefined, items)) return input;
  const at = input.findLastIndex(({ role }) => role === "user");
  return input.map((item, index) => {
    const content = item["content"];
    if (index !== at || !Array.isArray(content)) return item;
    return { ...item, content: [...content, { type: "input_text", text: JSON_RULE }] };
  });
}

function encodeLegacyResult({ call_id, output }: FunctionCallOutput): JsonObject {
  const content = typeof output === "string" ? output : JSON.stringify(output);
  return { type: "tool_result", tool_call_id: call_id, content };
}

/**
 * All items that the server can use. Reasoning that the server did not store and that is not sealed is left
 * out, and so are reasoning that another vendor sealed and items under another vendor's name.
 */
function encodeAll(items: readonly Item[], { store, quirks }: Keeping): JsonObject[] {
  return items.flatMap((item) => {
    const own = ownItemOf(item, quirks);
    if (own) return [own];
    const isOurs = !isOthers(item, quirks.native?.mark);
    return isOurs && isKnown(item, store) ? [encodeItem(item)] : [];
  });
}

interface Keeping {
  readonly store: boolean;
  readonly quirks: Quirks;
}

/** An item of the vendor's own kind, unchanged: as a published kind it would mean something else. */
function ownItemOf(item: Item, { native }: Quirks): JsonObject | undefined {
  if (!native?.mark || !item.type.startsWith(`${native.mark}:`)) return undefined;
  const { block } = asJsonObject(item);
  return isJsonObject(block) ? block : undefined;
}

function isKnown(item: Item, store: boolean): boolean {
  if (item.type.includes(":")) return false;
  if (item.type !== "reasoning") return true;
  if (isSealed(item.encrypted_content)) return false;
  return Boolean(item.encrypted_content) || (store && Boolean(item.id));
}

function encodeItem(item: Item): JsonObject {
  if (item.type === "message") return encodeMessage(item);
  if (item.type !== "function_call_output" || typeof item.output === "string") {
    return asJsonObject(item);
  }
  return { ...asJsonObject(item), output: encodeParts(item.output) };
}

/** The short form of a message. The model's own messages keep their id and parts. */
function encodeMessage(message: Message): JsonObject {
  const { role, content, id } = message;
  if (role === "assistant") {
    if (id) return withoutMarks(message);
    const phase = message.phase ? { phase: message.phase } : {};
    return { role, content: toText(content), ...phase };
  }
  if (typeof content === "string") {
    return { role, content: [{ type: "input_text", text: content }] };
  }
  return { role, content: encodeParts(content) };
}

/** Removes a field of citations that another vendor wants back, because it is unknown here. */
function withoutMarks(message: Message): JsonObject {
  const { content, ...rest } = asJsonObject(message);
  const parts = Array.isArray(content) ? content.map((part) => withPlainCitations(part)) : content;
  return { ...rest, content: parts };
}

function withPlainCitations(part: Json): Json {
  const cited = isJsonObject(part) ? part["annotations"] : undefined;
  if (!isJsonObject(part) || !Array.isArray(cited)) return part;
  const annotations = cited.map((one) => (isJsonObject(one) ? withoutMark(one) : one));
  return { ...part, annotations };
}

/** Parts in the form of the API. Only sound differs: its data is in another place there. */
function encodeParts(parts: readonly ContentPart[]): JsonObject[] {
  return parts.map((part) => {
    if (part.type !== "input_audio" || part.input_audio) return asJsonObject(part);
    const { data = "", format = "wav" } = part;
    return { type: "input_audio", input_audio: { data, format } };
  });
}

function toText(content: Message["content"]): string {
  if (typeof content === "string") return content;
  const texts = content.map((part) => {
    if (part.type === "refusal") return part.refusal;
    return textOfPart(part) ?? "";
  });
  return texts.join("");
}

function encodeReasoning({ effort, summary }: ReasoningOptions): JsonObject | undefined {
  if (effort === undefined && summary === undefined) return undefined;
  return { ...(effort ? { effort } : {}), ...(summary ? { summary } : {}) };
}

/** Encodes a tool: under the vendor's name and with its fields if the vendor runs it, otherwise unchanged. */
function encodeTool(tool: Tool, { native }: Quirks): JsonObject {
  return (native && toOwnTool(native, tool)) ?? asJsonObject(tool);
}

interface Instructed {
  readonly request: ModelRequest;
  readonly quirks: Quirks;
  readonly isChained: boolean;
}

/** Adds the instructions, unless the server keeps the conversation and has them. */
function withInstructions(
  input: JsonObject[],
  { request, quirks, isChained }: Instructed,
): JsonObject[] {
  const { instructions } = request;
  if (!quirks.instructionsAsMessage || !instructions || isChained) return input;
  return [{ role: "system", content: [{ type: "input_text", text: instructions }] }, ...input];
}

function encodeToolChoice(choice: ToolChoice): string | JsonObject {
  return typeof choice === "string" ? choice : asJsonObject(choice);
}

function encodeText(
  format: OutputFormat,
  verbosity: ModelOptions["verbosity"],
): JsonObject | undefined {
  if (format.type === "text") return verbosity && { verbosity };
  return verbosity ? { format, verbosity } : { format };
}
