/** Tools on offer, and the choice among them, in the words of the Messages API. */

import type { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { FunctionTool, Tool, ToolChoice, WebSearchTool } from "../../protocol/tools.ts";
import type { ModelRequest } from "../provider.ts";
import { toOutputSchema } from "./output-schema.ts";
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

/** A tool that the model is held to has a schema of the kind that answers are held to. */
function encodeFunction({ name, description, parameters, strict }: FunctionTool): MessagesTool {
  const schema = { properties: {}, ...parameters, type: "object" } as const;
  return {
    name,
    ...(description ? { description } : {}),
    ...(strict ? { strict } : {}),
    input_schema: strict ? { ...toOutputSchema(schema as JsonObject), type: "object" } : schema,
  };
}

/** Some models, platforms and servers hold a model to no tool, or not to this many or this large ones. */
export function relaxTools(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  const isHeld = request.tools.some((tool) => tool.type === "function" && tool.strict);
  if (!isHeld || failure.code !== "provider_rejected") return undefined;
  if (!/strict|schema|grammar|structured|additionalProperties/i.test(failure.message)) {
    return undefined;
  }
  const tools = request.tools.map((tool) =>
    tool.type === "function" ? { ...tool, strict: false } : tool,
  );
  return { ...request, tools };
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
