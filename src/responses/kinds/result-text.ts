/** A tool's result as one text, for items that hold nothing else. */

import type { ToolResult } from "../../tools/gate/call.ts";

export function toResultText(output: ToolResult["output"]): string {
  if (typeof output === "string") return output;
  return output.map((part) => ("text" in part ? String(part.text) : `[${part.type}]`)).join("\n");
}
