/** What a tool returned, as it goes to the model: text within its limit, without keys. */

import type { Json } from "../../base/json.ts";
import type { Redact } from "../../base/redact.ts";
import type { ContentPart } from "../../protocol/content.ts";
import { ToolOutput } from "../tool.ts";

export function toOutput(
  returned: Json | ToolOutput,
  maxChars: number,
  redact: Redact,
): string | readonly ContentPart[] {
  const { value, parts } =
    returned instanceof ToolOutput ? returned : { value: returned, parts: [] };
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const shown = redact(cut(text, maxChars));
  return parts.length === 0 ? shown : [{ type: "input_text", text: shown }, ...parts];
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "");
  return `${kept}\n[Output truncated: ${kept.length} of ${text.length} characters]`;
}
