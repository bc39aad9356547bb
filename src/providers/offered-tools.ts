/**
 * The tools to offer under a tool choice. `allowedTools` is for APIs that can express every choice except a
 * list of allowed tools. `offeredTools` is for APIs without a tool choice: tools that may not be called are
 * left out, and nothing can be forced.
 */

import type { FunctionTool, Tool, ToolChoice } from "../protocol/tools.ts";

/** All tools, except those that a list of allowed tools leaves out. */
export function allowedTools(tools: readonly Tool[], choice: ToolChoice): readonly Tool[] {
  if (typeof choice === "string" || choice.type !== "allowed_tools") return tools;
  const allowed = choice.tools;
  return tools.filter((tool) =>
    tool.type === "function"
      ? allowed.some(({ name }) => name === tool.name)
      : allowed.some(({ type }) => type === tool.type),
  );
}

/** Functions only: tools that only other vendors run are never among them. */
export function offeredTools(tools: readonly Tool[], choice: ToolChoice): FunctionTool[] {
  const functions = allowedTools(tools, choice).filter((tool) => tool.type === "function");
  if (choice === "none") return [];
  if (typeof choice === "string" || choice.type !== "function") return functions;
  return functions.filter(({ name }) => name === choice.name);
}

/** True if a tool of the vendor's own must be called, which few APIs support. */
export function forcesHosted(choice: ToolChoice): boolean {
  if (typeof choice === "string") return false;
  return choice.type !== "function" && choice.type !== "custom" && choice.type !== "allowed_tools";
}

/** True if the model must make a call. */
export function isForced(choice: ToolChoice): boolean {
  if (typeof choice === "string") return choice === "required";
  return choice.type === "allowed_tools" ? choice.mode === "required" : choice.type === "function";
}
