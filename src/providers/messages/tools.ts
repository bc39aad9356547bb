/** Tools on offer, and the choice among them, in the words of the Messages API. */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { FunctionTool, Tool, ToolChoice, WebSearchTool } from "../../protocol/tools.ts";
import type { ModelRequest } from "../provider.ts";
import type { MessagesTool, MessagesToolChoice } from "./schema.ts";

/** Tools that only other vendors run are left out; those this vendor runs go word for word. */
export function encodeTools(tools: readonly Tool[]): MessagesTool[] {
  return tools.flatMap((tool) => {
    if (tool.type === "function") return [encodeFunction(tool)];
    if (tool.type === "web_search" || tool.type === "web_search_2025_08_26") {
      return [encodeSearch(tool) as unknown as MessagesTool];
    }
    return isVendorTool(tool) ? [tool as unknown as MessagesTool] : [];
  });
}

export function encodeToolChoice({
  toolChoice,
  parallelToolCalls,
}: ModelRequest): MessagesToolChoice {
  const choice = toChoice(toolChoice);
  const isSingle = parallelToolCalls === false && choice.type !== "none";
  return isSingle ? { ...choice, disable_parallel_tool_use: true } : choice;
}

function encodeFunction({ name, description, parameters }: FunctionTool): MessagesTool {
  return {
    name,
    ...(description ? { description } : {}),
    input_schema: { properties: {}, ...parameters, type: "object" },
  };
}

/** The vendor dates the kinds of its tools: `web_search_20250305`, `bash_20250124`. */
function isVendorTool({ type }: { readonly type: string }): boolean {
  return /_20\d{6}$/.test(type) || type === "mcp_toolset";
}

function encodeSearch({ filters, user_location }: WebSearchTool): JsonObject {
  const { allowed_domains } = filters ?? {};
  return {
    type: "web_search_20250305",
    name: "web_search",
    ...(allowed_domains ? { allowed_domains } : {}),
    ...(isJsonObject(user_location)
      ? { user_location: { ...(user_location as JsonObject), type: "approximate" } }
      : {}),
  };
}

function toChoice(choice: ToolChoice): MessagesToolChoice {
  if (choice === "none") return { type: "none" };
  if (choice === "required") return { type: "any" };
  if (typeof choice === "string") return { type: "auto" };
  if (choice.type === "function") return { type: "tool", name: choice.name };
  const isForced = choice.type === "allowed_tools" && choice.mode === "required";
  return { type: isForced ? "any" : "auto" };
}
