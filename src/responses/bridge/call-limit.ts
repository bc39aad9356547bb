/**
 * `max_tool_calls`: calls of the server's beyond it are ignored. They are not made, not shown, and no
 * longer offered once none is left. Calls that the client makes do not count.
 */

import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import type { Bridge } from "./bridge.ts";

interface Offered {
  readonly tools: readonly Tool[];
  readonly tool_choice: ToolChoice;
}

/** What is left of an offer when the server makes no more calls. Both speak of functions. */
export function withoutServerCalls({ tools, tool_choice }: Offered, bridge: Bridge): Offered {
  const isOurs = (name: string): boolean => bridge.offerNamed(name)?.run !== undefined;
  const rest = tools.filter((tool) => tool.type !== "function" || !isOurs(tool.name));
  const isOpen = rest.length > 0 && !namesIn(tool_choice).some(isOurs);
  return { tools: rest, tool_choice: isOpen ? tool_choice : "auto" };
}

function namesIn(choice: ToolChoice): string[] {
  if (typeof choice === "string") return [];
  const entries = choice.type === "allowed_tools" ? choice.tools : [choice];
  return entries.flatMap((entry) =>
    "name" in entry && typeof entry.name === "string" ? [entry.name] : [],
  );
}
