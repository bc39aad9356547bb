/**
 * A model request as the body of `ConverseStream`.
 *
 * A strict schema goes out in the API's own field; one that is only wished for is the input of a
 * tool that the model must call, which every model with tools can do. `decode.ts` unwraps it.
 */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { FunctionTool, ToolChoice } from "../../protocol/tools.ts";
import { JSON_RULE } from "../json-rule.ts";
import { offeredTools } from "../offered-tools.ts";
import type { ModelRequest } from "../provider.ts";
import { type Quirks, toBody } from "../wire.ts";
import { placeCachePoints } from "./cache-points.ts";
import { claudeVersion, type ModelId, parseModelId } from "./model-id.ts";
import type {
  ConverseBody,
  ConverseToolChoice,
  OutputConfig,
  ToolConfig,
  ToolEntry,
} from "./schema.ts";
import { encodeThinking } from "./thinking.ts";
import { encodeTurns } from "./turns.ts";

/** The tool whose input is the answer, where the schema is no more than a wish. */
export const JSON_TOOL = "json";

export function encodeRequest(request: ModelRequest, quirks: Quirks): JsonObject {
  return toBody(encodeBody(request), quirks);
}

/** Whether the answer comes as the input of `JSON_TOOL`. */
export function usesJsonTool({ format }: Pick<ModelRequest, "format">): boolean {
  return format.type === "json_schema" && !format.strict;
}

export function encodeBody(request: ModelRequest): ConverseBody {
  if (request.format.type === "json_object") {
    const message =
      "Bedrock has no mode for a JSON object without a schema. Give a schema with it.";
    throw new Failure("invalid_request", message, { param: "format" });
  }
  const model = parseModelId(request.model);
  const toolConfig = encodeTools(request, model);
  const isForced = toolConfig?.toolChoice !== undefined && !("auto" in toolConfig.toolChoice);
  const { turns, system } = encodeTurns(request.items, {
    maker: model.maker,
    hasTools: toolConfig !== undefined,
  });
  const thinking = encodeThinking(model, request, { isForced });
  const fields = { ...thinking.fields, ...serialCalls(request, model) };
  const rules = usesJsonTool(request) && !isForced ? [JSON_TOOL_RULE] : [];
  const instructions = [request.instructions ?? "", ...system, ...rules].filter(isNotBlank);
  return placeCachePoints(model, {
    messages: turns,
    ...(instructions.length > 0 && { system: instructions.map((text) => ({ text })) }),
    ...inferenceConfig(request, thinking.maxTokens),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
    ...outputConfig(request, thinking.effort),
  });
}

const JSON_TOOL_RULE = `${JSON_RULE} Give it by calling the tool \`${JSON_TOOL}\`.`;

function isNotBlank(text: string): boolean {
  return text.trim() !== "";
}

/** `toolChoice: none` has no word here: the tools themselves are left out. */
function encodeTools(request: ModelRequest, model: ModelId): ToolConfig | undefined {
  const { tools, toolChoice } = request;
  // From 5.5 on Claude refuses to be told which tool to call: it is offered that one alone.
  const canForce = (claudeVersion(model) ?? 0) < 5.5;
  const isNamed = typeof toolChoice === "object" && toolChoice.type === "function";
  const offered = offeredTools(tools, canForce && isNamed ? "auto" : toolChoice).map(encodeTool);
  const jsonTool = encodeJsonTool(request);
  const entries = [...offered, ...jsonTool];
  if (entries.length === 0) return undefined;
  if (!canForce) return { tools: entries, toolChoice: { auto: {} } };
  if (jsonTool.length === 0) return { tools: entries, toolChoice: encodeToolChoice(toolChoice) };
  const must = offered.length > 0 ? { any: {} } : { tool: { name: JSON_TOOL } };
  return { tools: entries, toolChoice: must };
}

function encodeTool({ name, description, parameters, strict }: FunctionTool): ToolEntry {
  return {
    toolSpec: {
      name,
      // An empty one is refused.
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
  if (choice === "required") return { any: {} };
  if (typeof choice === "string") return { auto: {} };
  if (choice.type === "function") return { tool: { name: choice.name } };
  const isMust = choice.type === "allowed_tools" && choice.mode === "required";
  return isMust ? { any: {} } : { auto: {} };
}

/** Only Claude can be told to make one call at a time, in its maker's words. */
function serialCalls({ parallelToolCalls, tools }: ModelRequest, model: ModelId): JsonObject {
  if (parallelToolCalls !== false || tools.length === 0) return {};
  if (claudeVersion(model) === undefined) return {};
  return { tool_choice: { type: "auto", disable_parallel_tool_use: true } };
}

function inferenceConfig(
  { temperature, topP }: ModelRequest,
  maxTokens: number | undefined,
): Pick<ConverseBody, "inferenceConfig"> {
  const inferenceConfig = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
  };
  return Object.keys(inferenceConfig).length > 0 ? { inferenceConfig } : {};
}

function outputConfig(
  { format }: ModelRequest,
  effort: string | undefined,
): Pick<ConverseBody, "outputConfig"> {
  const outputConfig: OutputConfig = {
    ...(format.type === "json_schema" && format.strict && { textFormat: toTextFormat(format) }),
    ...(effort !== undefined && { effort }),
  };
  return Object.keys(outputConfig).length > 0 ? { outputConfig } : {};
}

function toTextFormat({ name, schema }: { name: string; schema: JsonObject }) {
  const jsonSchema = { schema: JSON.stringify(schema), name };
  return { type: "json_schema" as const, structure: { jsonSchema } };
}
