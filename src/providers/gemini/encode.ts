/** Encodes a model request as a `generateContent` body. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import { omittedMarks } from "../cache-marks.ts";
import { forcesHosted } from "../offered-tools.ts";
import type { ModelRequest, OutputFormat } from "../provider.ts";
import { isListed, NATIVE_TOOLS, runKindOf } from "../vendors/native-tools.ts";
import { type NativeRow, type Quirks, toBody } from "../wire.ts";
import { encodeContents, findContinuation } from "./contents.ts";
import { familyOf, toThinking } from "./family.ts";
import { toGeminiSchema } from "./json-schema.ts";
import { encodeSampling, encodeTier, omittedOptions } from "./options.ts";
import type {
  GeminiFunction,
  GeminiGenerationConfig,
  GeminiRequest,
  GeminiTool,
  GeminiToolConfig,
} from "./schema.ts";

/** The two services with this API, for the few fields that only one of them knows. */
export type Host = "studio" | "vertex";

export function encodeRequest(request: ModelRequest, quirks: Quirks, host: Host): JsonObject {
  return toBody(toGeminiRequest(request, host), quirks);
}

/** The typed body. Its types are a part of the vendor's own. */
export function toGeminiRequest(request: ModelRequest, host: Host): GeminiRequest {
  const continued = findContinuation(request.items);
  const { system, items } = splitInstructions(continued?.items ?? request.items);
  const family = familyOf(request.model);
  const instructions = [request.instructions, ...system].filter((text) => text !== undefined);
  const said = { role: "user" as const, parts: instructions.map((text) => ({ text })) };
  const contents = encodeContents({ ...request, items }, family);
  const isBare = contents.length === 0;
  if (isBare && instructions.length === 0) {
    const message = "There is nothing to send: the conversation is empty.";
    throw new Failure("invalid_request", message, { param: "input" });
  }
  const tools = encodeTools(request, host);
  const toolConfig = tools.length > 0 ? encodeToolConfig(request.tool_choice, tools, host) : {};
  const generationConfig = encodeConfig(request);
  return {
    // The API requires a message: instructions without a conversation become the user's.
    contents: isBare ? [said] : contents,
    ...(instructions.length > 0 && !isBare && { systemInstruction: said }),
    ...(tools.length > 0 && { tools }),
    ...(Object.keys(toolConfig).length > 0 && { toolConfig }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...(continued && { continuationToken: continued.token }),
    ...(request.options && encodeTier(request.options)),
  };
}

/** The parameters that this body leaves out. The API cannot limit a model to one call at a time. */
export function omitsOf(request: ModelRequest): readonly string[] {
  const { options, parallel_tool_calls, tools, tool_choice } = request;
  const isSerial = parallel_tool_calls === false && tools.length > 0;
  return [
    ...(isSerial ? ["parallel_tool_calls"] : []),
    ...(forcesHosted(tool_choice) ? ["tool_choice"] : []),
    ...(cannotStop(request) ? ["reasoning.effort"] : []),
    ...(options ? omittedOptions(options) : []),
    ...omittedMarks(request),
  ];
}

/** True if the request turns thinking off, and it is not known how to do that for this model. */
function cannotStop({ reasoning, model }: ModelRequest): boolean {
  const family = familyOf(model);
  const isOff = reasoning.effort === "none" && family.thinking !== "none";
  return isOff && model !== "" && toThinking(reasoning, family) === undefined;
}

/**
 * System messages are instructions, also later ones: the API has no role for them among the contents, and as a user's
 * text they derail small models. What the vendor has cached of the prompt ends with each new one.
 */
function splitInstructions(items: readonly Item[]): { system: string[]; items: readonly Item[] } {
  const system = items
    .filter(isSystem)
    .map(toSystemText)
    .filter((text) => text !== "");
  return { system, items: items.filter((item) => !isSystem(item)) };
}

function isSystem(item: Item): boolean {
  return item.type === "message" && (item.role === "system" || item.role === "developer");
}

function toSystemText(item: Item): string {
  if (item.type !== "message") return "";
  if (typeof item.content === "string") return item.content;
  return item.content.map((part) => textOfPart(part) ?? "").join("\n");
}

function encodeTools({ tools, model }: ModelRequest, host: Host): GeminiTool[] {
  const functionDeclarations = tools.flatMap(encodeFunction);
  const own = encodeOwn(tools, host);
  const [name] = Object.keys(own[0] ?? {});
  if (functionDeclarations.length > 0 && name !== undefined && !familyOf(model).mixesTools) {
    const message = `${model} does not accept functions beside its own tool \`${name}\`. Leave out one of the two, or use a model of Gemini 3 or later.`;
    throw new Failure("invalid_request", message, { param: "tools" });
  }
  return [...(functionDeclarations.length > 0 ? [{ functionDeclarations }] : []), ...own];
}

const ROWS: Readonly<Record<Host, NativeRow>> = {
  studio: NATIVE_TOOLS.gemini as NativeRow,
  vertex: NATIVE_TOOLS.vertex as NativeRow,
};

/** Encodes Google's own tools. Each is a key here, and the fields of its entry are the key's value. */
function encodeOwn(tools: readonly Tool[], host: Host): GeminiTool[] {
  const row = ROWS[host];
  const own = new Map<string, JsonObject>();
  for (const tool of tools) {
    const { type, ...fields } = tool as unknown as JsonObject & { type: string };
    const kind = runKindOf(type);
    const as = kind ? row.runs[kind]?.as : undefined;
    if (as !== undefined) own.set(toCamel(as), own.get(toCamel(as)) ?? {});
    else if (isListed(type, row.types)) own.set(toCamel(type), fields);
  }
  // Google's types have a field for each tool; Google checks the fields of the entry.
  return [...own].map(([name, fields]) => ({ [name]: fields }) as GeminiTool);
}

function toCamel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function encodeFunction(tool: Tool): GeminiFunction[] {
  if (tool.type !== "function") return [];
  const { name, description, parameters } = tool;
  const schema = parameters ? toGeminiSchema(parameters) : {};
  return [
    {
      name,
      ...(description && { description }),
      // The API refuses an object without properties, so a function without parameters has no schema.
      ...(hasContent(schema) && { parametersJsonSchema: schema }),
    },
  ];
}

function hasContent({ properties, type, ...rest }: JsonObject): boolean {
  const isEmpty = !properties || Object.keys(properties).length === 0;
  const others = Object.keys(rest).filter((name) => !EMPTY_WORDS.has(name));
  return !isEmpty || others.length > 0;
}

/** The keywords of an object without properties that change nothing. */
const EMPTY_WORDS: ReadonlySet<string> = new Set([
  "additionalProperties",
  "required",
  "title",
  "description",
  "$id",
]);

function encodeToolConfig(
  choice: ToolChoice,
  tools: readonly GeminiTool[],
  host: Host,
): GeminiToolConfig {
  const functionCallingConfig = encodeToolChoice(choice, tools);
  const isMixed = tools.length > 1 && tools.some((tool) => tool.functionDeclarations);
  return {
    ...(functionCallingConfig && { functionCallingConfig }),
    // AI Studio accepts its own tools beside functions only if it may show its own calls.
    ...(isMixed && host === "studio" && { includeServerSideToolInvocations: true }),
  };
}

function encodeToolChoice(
  choice: ToolChoice,
  tools: readonly GeminiTool[],
): GeminiToolConfig["functionCallingConfig"] {
  if (choice === "none") return { mode: "NONE" };
  if (choice === "required") return { mode: "ANY" };
  if (typeof choice === "string") return undefined;
  if (choice.type === "function") return { mode: "ANY", allowedFunctionNames: [choice.name] };
  if (choice.type !== "allowed_tools") return undefined;
  const offered = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const allowedFunctionNames = offered
    .map(({ name }) => name)
    .filter((name) => choice.tools.some((allowed) => allowed["name"] === name));
  // An empty list would allow all of them.
  if (allowedFunctionNames.length === 0) return { mode: "NONE" };
  return { mode: choice.mode === "required" ? "ANY" : "VALIDATED", allowedFunctionNames };
}

function encodeConfig(request: ModelRequest): GeminiGenerationConfig {
  const { temperature, top_p, max_output_tokens, reasoning, model } = request;
  const family = familyOf(model);
  const thinkingConfig = toThinking(reasoning, family);
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(max_output_tokens !== undefined && { maxOutputTokens: max_output_tokens }),
    ...(request.options && encodeSampling(request.options)),
    ...(family.draws && request.format.type === "text" && DRAWING),
    ...encodeFormat(request.format),
    ...(thinkingConfig && { thinkingConfig }),
  };
}

const DRAWING: GeminiGenerationConfig = { responseModalities: ["TEXT", "IMAGE"] };

function encodeFormat(format: OutputFormat): GeminiGenerationConfig {
  if (format.type === "text") return {};
  const responseMimeType = "application/json";
  if (format.type === "json_object") return { responseMimeType };
  return { responseMimeType, responseJsonSchema: toGeminiSchema(format.schema) };
}
