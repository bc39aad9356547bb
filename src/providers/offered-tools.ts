/**
 * The functions to offer where an API has no words for a tool choice: what may not be called is left
 * out, and nothing can be forced. Tools that only other vendors run are never among them.
 */

import type { FunctionTool, Tool, ToolChoice } from "../protocol/tools.ts";

export function offeredTools(tools: readonly Tool[], choice: ToolChoice): FunctionTool[] {
  const functions = tools.filter((tool) => tool.type === "function");
  if (choice === "none") return [];
  if (typeof choice === "string") return functions;
  if (choice.type === "function") return functions.filter(({ name }) => name === choice.name);
  if (choice.type !== "allowed_tools") return functions;
  const allowed = new Set(choice.tools.map(({ name }) => name));
  return functions.filter(({ name }) => allowed.has(name));
}
