/** Offered tools and the tool choice, in the form of Cohere's chat API. */

import { isJsonObject } from "../../base/json.ts";
import type { FunctionTool, Tool } from "../../protocol/tools.ts";
import { allowedTools, isForced, offeredTools } from "../offered-tools.ts";
import type { ModelRequest } from "../provider.ts";
import type { CohereRequest, CohereTool } from "./schema.ts";

/**
 * The functions to offer. A tool that must be called is offered alone, because the API can force a call and
 * not a name. If no tool may be called, all are sent anyway, because the conversation may contain their
 * calls.
 */
export function toFunctions({ tools, tool_choice }: ModelRequest): readonly FunctionTool[] {
  if (tool_choice !== "none") return offeredTools(tools, tool_choice);
  return allowedTools(tools, tool_choice).filter((tool) => tool.type === "function");
}

export function encodeTools(
  functions: readonly FunctionTool[],
  { tool_choice }: ModelRequest,
): Pick<CohereRequest, "tools" | "strict_tools" | "tool_choice"> {
  if (functions.length === 0) {
    return { tools: undefined, strict_tools: undefined, tool_choice: undefined };
  }
  const choice = tool_choice === "none" ? "NONE" : isForced(tool_choice) ? "REQUIRED" : undefined;
  return {
    tools: functions.map(encodeTool),
    strict_tools: functions.every(canBeStrict) || undefined,
    tool_choice: choice,
  };
}

function encodeTool({ name, description, parameters }: FunctionTool): CohereTool {
  return {
    type: "function",
    function: {
      name: toToolName(name),
      ...(description ? { description } : {}),
      parameters: parameters ?? { type: "object", properties: {} },
    },
  };
}

/** The API cannot enforce a tool whose parameters are all optional. */
function canBeStrict({ strict, parameters }: FunctionTool): boolean {
  const required = isJsonObject(parameters) ? parameters["required"] : undefined;
  return strict === true && Array.isArray(required) && required.length > 0;
}

/** The API accepts letters, digits and `_`, and a digit may not be first. */
export function toToolName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_");
}

/** Our names of the tools by the names that were sent to the API. */
export function toOwnNames(tools: readonly Tool[]): ReadonlyMap<string, string> {
  const functions = tools.filter((tool) => tool.type === "function");
  return new Map(functions.map(({ name }) => [toToolName(name), name]));
}
