/**
 * The tools to offer under a tool choice. `allowedTools` is for APIs with words for every choice but a
 * list of allowed ones; `offeredTools` for those without any: there, what may not be called is left
 * out, and nothing can be forced.
 */

import type { FunctionTool, Tool, ToolChoice } from "../protocol/tools.ts";

/** All of them, but for those that a list of allowed ones leaves out. */
export function allowedTools(tools: readonly Tool[], choice: ToolChoice): readonly Tool[] {
  if (typeof choice === "string" || choice.type !== "allowed_tools") return tools;
  const allowed = choice.tools;
  return tools.filter((tool) =>
    tool.type === "function"
      ? allowed.some(({ name }) => name === tool.name)
      : allowed.some(({ type }) => type === tool.type),
  );
}

/** Functions alone: tools that only other vendors run are never among them. */
export function offeredTools(tools: readonly Tool[], choice: ToolChoice): FunctionTool[] {
  const functions = allowedTools(tools, choice).filter((tool) => tool.type === "function");
  if (choice === "none") return [];
  if (typeof choice === "string" || choice.type !== "function") return functions;
  return functions.filter(({ name }) => name === choice.name);
}

/** Whether a tool of the vendor's own must be called, for which few APIs have a word. */
export function forcesHosted(choice: ToolChoice): boolean {
  if (typeof choice === "string") return false;
  return choice.type !== "function" && choice.type !== "custom" && choice.type !== "allowed_tools";
}

/** Whether some call must be made. */
export function isForced(choice: ToolChoice): boolean {
  if (typeof choice === "string") return choice === "required";
  return choice.type === "allowed_tools" ? choice.mode === "required" : choice.type === "function";
}
