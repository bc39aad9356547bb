/** What a tool returned, as it goes to the model: text within its limit, without keys. */

import type { Json } from "../../base/json.ts";
import type { Redact } from "../../base/redact.ts";
import { cutToChars } from "../../base/text.ts";
import type { ContentPart } from "../../protocol/content.ts";
import { ToolOutput } from "../tool.ts";

export function toOutput(
  returned: Json | ToolOutput,
  maxChars: number,
  redact: Redact,
): string | readonly ContentPart[] {
  const { value, parts } =
    returned instanceof ToolOutput ? returned : { value: returned, parts: [] };
  const shown = toText(value, maxChars, redact);
  const behind = parts.map((part) => ("text" in part ? redactPart(part, redact) : part));
  return parts.length === 0 ? shown : [{ type: "input_text", text: shown }, ...behind];
}

/** Keys first, then the limit: one that stands across it would be cut out of its pattern. */
export function toText(value: Json | undefined, maxChars: number, redact: Redact): string {
  if (typeof value === "string") return cut(redact(value), maxChars);
  // A text inside is escaped when it is written as JSON, and a key with a quote in it would be no key.
  const clean = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "string" ? redact(inner) : inner,
  );
  return cut(clean ?? "", maxChars);
}

function redactPart<Part extends ContentPart>(part: Part, redact: Redact): Part {
  const text = (part as { readonly text?: unknown }).text;
  return typeof text === "string" ? { ...part, text: redact(text) } : part;
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = cutToChars(text, maxChars);
  return `${kept}\n[Output truncated: ${kept.length} of ${text.length} characters]`;
}
