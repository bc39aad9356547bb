/** The text of a message, and a mark that is the same for the same text. */

import { createHash } from "node:crypto";
import type { ContentPart } from "../../protocol/content.ts";
import type { Message } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";

/** Media is named, not shown. */
export function toPlainText(content: string | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  return content.map(toWords).join("\n");
}

function toWords(part: ContentPart): string {
  if (part.type === "refusal") return part.refusal;
  const text = textOfPart(part);
  if (text !== undefined) return text;
  const name = "filename" in part && part.filename ? ` ${String(part.filename)}` : "";
  return `[${part.type}${name}]`;
}

const MARK_CHARS = 12;

/** A client that sends a message again may have changed its id and its form, but not its words. */
export function toMark({ role, content }: Message): string {
  const text = `${role}\n${toPlainText(content)}`;
  return createHash("sha256").update(text).digest("base64url").slice(0, MARK_CHARS);
}
