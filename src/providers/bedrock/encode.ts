/**
 * Encodes a model request as the body of `ConverseStream`.
 *
 * A strict schema is sent in the API's own field. A schema that is not strict becomes the input of a tool
 * that the model must call, which every model with tools can do; `decode.ts` unwraps it.
 */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { FunctionTool, ToolChoice } from "../../protocol/tools.ts";
import { omittedMarks } from "../cache-marks.ts";
import { JSON_RULE } from "../json-rule.ts";
import {
  allowedTools,
  forcesHosted,
  isForced as isForcedBy,
  offeredTools,
} from "../offered-tools.ts";
import type { ModelRequest } from "../provider.ts";
import { isListed, NATIVE_TOOLS, runKindOf } from "../vendors/native-tools.ts";
import { type NativeRow, type Quirks, toBody } from "../wire.ts";
import { canCache, placeCachePoints } from "./cache-points.ts";
import { claudeVersion, type ModelId, parseModelId } from "./model-id.ts";
import { encodeTier, omittedOptions, stopsOf } from "./options.ts";
import type {
  ConverseBody,
  ConverseOutputConfig,
  ConverseToolChoice,
  SystemBlock,
  ToolConfig,
  ToolEntry,
} from "./schema.ts";
import { encodeThinking } from "./thinking.ts";
import { encodeTurns } from "./turns.ts";

/** The tool whose input is the answer if the schema is not strict. */
export const JSON_TOOL = "json";

export function encodeRequest(request: ModelRequest, quirks: Quirks): JsonObject {
  return toBody(encodeBody(request), quirks);
}

/** The parameters that this body leaves out. */
export function omitsOf(request: ModelRequest): readonly string[] {
  const { options, tools, tool_choice, parallel_tool_calls } = request;
  const model = parseModelId(request.model);
  const isSerial = parallel_tool_calls === false && tools.length > 0;
  return [
    ...(tools.length > 0 && isForcedBy(tool_choice) && !canForce(model) ? ["tool_choice"] : []),
    ...(forcesHosted(tool_choice) ? ["tool_choice"] : []),
    ...(isSerial && claudeVersion(model) === undefined ? ["parallel_tool_calls"] : []),
    ...(omitsEffort(request, model) ? ["reasoning.effort"] : []),
    ...(options ? omittedOptions(options, model) : []),
    ...(canCache(model) ? [] : omittedMarks(request)),
  ];
}

/**
 * True if the model thinks more or less than the request asks for. Thinking is off unless the body asks for
 * it.
 */
function omitsEffort(request: ModelRequest, model: ModelId): boolean {
  const { effort = "none" } = request.reasoning;
  if (effort === "none") return false;
  const isForced = isForcing(encodeTools(request, model));
  const told = encodeThinking(model, request, { isForced });
  return told.effort === undefined && Object.keys(told.fields).length === 0;
}

/** True if the answer comes as the input of `JSON_TOOL`. */
export function usesJsonTool({ format }: Pick<ModelRequest, "format">): boolean {
  return format.type === "json_schema" && !format.strict;
}

export function encodeBody(request: ModelRequest): ConverseBody {
  if (request.format.type === "json_object") {
    const message =
      "Bedrock has no mode for a JSON object without a schema. Give a schema with it.";
    throw new Failure("invalid_request", message, { param: "text.format" });
  }
  const model = parseModelId(request.model);
  const toolConfig = encodeTools(request, model);
  const isForced = isForcing(toolConfig);
  const { turns, system } = encodeTurns(request.items, {
    maker: model.maker,
    hasTools: toolConfig !== undefined,
    hasPoints: canCache(model),
  });
  const thinking = encodeThinking(model, request, { isForced });
  const fields = { ...thinking.fields, ...serialCalls(request, model, toolConfig) };
  const rules = usesJsonTool(request) && !isForced ? [JSON_TOOL_RULE] : [];
  const instructions = [
    ...toSystem(request.instructions ?? ""),
    ...system,
    ...rules.flatMap(toSystem),
  ];
  const body: ConverseBody = {
    messages: turns,
    ...(instructions.length > 0 && { system: instructions }),
    ...inferenceConfig(request, model, thinking.maxTokens),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
    ...asksForStop(request, model),
    ...outputConfig(request, thinking.effort),
    ...(request.options && encodeTier(request.options)),
  };
  return placeCachePoints(model, body, request.options?.prompt_cache_retention);
}

const JSON_TOOL_RULE = `${JSON_RULE} Give it by calling the tool \`${JSON_TOOL}\`.`;

/** Bedrock refuses a blank text. */
function toSystem(text: string): SystemBlock[] {
  return text.trim() === "" ? [] : [{ text }];
}

/** `tool_choice: none` does not exist here, so the tools themselves are left out. */
function encodeTools(request: ModelRequest, model: ModelId): ToolConfig | undefined {
  const { tools, tool_choice } = request;
  const isNamed = typeof tool_choice === "object" && tool_choice.type === "function";
  const choice = canForce(model) && isNamed ? "auto" : tool_choice;
  const offered = [...offeredTools(tools, choice).map(encodeTool), ...encodeOwn(request)];
  const jsonTool = encodeJsonTool(request);
  const entries = [...offered, ...jsonTool];
  if (entries.length === 0) return undefined;
  if (!canForce(model)) return { tools: entries, toolChoice: { auto: {} } };
  if (jsonTool.length === 0) return { tools: entries, toolChoice: encodeToolChoice(tool_choice) };
  const must = offered.length > 0 ? { any: {} } : { tool: { name: JSON_TOOL } };
  return { tools: entries, toolChoice: must };
}

const OWN = NATIVE_TOOLS.bedrock as NativeRow;

/** Tools that the service runs consist of a name only. */
function encodeOwn({ tools, tool_choice }: ModelRequest): ToolEntry[] {
  if (tool_choice === "none") return [];
  const names = allowedTools(tools, tool_choice).flatMap(({ type }) => {
    const kind = runKindOf(type);
    const as = kind && OWN.runs[kind]?.as;
    return as ?? (isListed(type, OWN.types) ? type : []);
  });
  return [...new Set(names)].map((name) => ({ systemTool: { name } }));
}

function isForcing(config: ToolConfig | undefined): boolean {
  return config?.toolChoice !== undefined && !("auto" in config.toolChoice);
}

/**
 * True if a call of one named tool can be forced. Claude 5.5 and later refuse that: the request offers only
 * that tool instead.
 */
function canForce(model: ModelId): boolean {
  return (claudeVersion(model) ?? 0) < 5.5;
}

function encodeTool({ name, description, parameters, strict }: FunctionTool): ToolEntry {
  return {
    toolSpec: {
      name,
      // Bedrock refuses an empty description.
      ...(description && { description }),
      inputSchema: { json: parameters ?? { type: "object", properties: {} } },
      ...(strict && { strict }),
    },
  };
}

function encodeJsonTool({ format }: ModelRequest): ToolEntry[] {
  if (format.type !== "json_schema" || format.strict) return [];
  const description = "Takes your final answer. Call it once, with the whole answer.";
  return [{ toolSpec: { name: JSON_TOOL, description, inputSchema: { json: format.schema } } }];
}

function encodeToolChoice(choice: ToolChoice): ConverseToolChoice {
  if (typeof choice === "object" && choice.type === "function") {
    return { tool: { name: choice.name } };
  }
  return isForcedBy(choice) ? { any: {} } : { auto: {} };
}

/** Asks for one call at a time. Only Claude can do that: its own field repeats the tool choice. */
function serialCalls({ parallel_tool_calls }: ModelRequest, model: ModelId, config?: ToolConfig) {
  if (parallel_tool_calls !== false || claudeVersion(model) === undefined || !config) return {};
  const [[type = "auto", value] = []] = Object.entries(config.toolChoice ?? {});
  return { tool_choice: { type, ...value, disable_parallel_tool_use: true } };
}

function inferenceConfig(
  { temperature, top_p, options = {} }: ModelRequest,
  model: ModelId,
  maxTokens: number | undefined,
): Pick<ConverseBody, "inferenceConfig"> {
  const stopSequences = stopsOf(options, model);
  const inferenceConfig = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(stopSequences.length > 0 && { stopSequences }),
  };
  return Object.keys(inferenceConfig).length > 0 ? { inferenceConfig } : {};
}

/** Asks Claude to report which stop text ended the answer. */
function asksForStop(
  { options = {} }: ModelRequest,
  model: ModelId,
): Pick<ConverseBody, "additionalModelResponseFieldPaths"> {
  const isAsked = claudeVersion(model) !== undefined && stopsOf(options, model).length > 0;
  return isAsked ? { additionalModelResponseFieldPaths: ["/stop_sequence"] } : {};
}

function outputConfig(
  { format }: ModelRequest,
  effort: string | undefined,
): Pick<ConverseBody, "outputConfig"> {
  const outputConfig: ConverseOutputConfig = {
    ...(format.type === "json_schema" && format.strict && { textFormat: toTextFormat(format) }),
    ...(effort !== undefined && { effort }),
  };
  return Object.keys(outputConfig).length > 0 ? { outputConfig } : {};
}

function toTextFormat({ name, schema }: { name: string; schema: JsonObject }) {
  const jsonSchema = { schema: JSON.stringify(schema), name };
  return { type: "json_schema" as const, structure: { jsonSchema } };
}
