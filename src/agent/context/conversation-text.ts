/**
 * Writes a conversation as plain text, for a model that is to summarise it. Every provider takes text, even those that
 * reject calls without tools or another vendor's reasoning.
 */

import type { Item } from "../../protocol/items.ts";
import { toPlainText } from "./message-text.ts";

/** How many characters of one item are shown; tried in this order until the whole fits. */
const ITEM_CHARS = [100_000, 20_000, 5000, 1200, 300];

/** Writes at most `maxChars`; if the shortest form is still too long, leaves out the oldest items. */
export function writeConversation(items: readonly Item[], maxChars: number): string {
  for (const itemChars of ITEM_CHARS) {
    const text = writeAll(items, itemChars).join("\n\n");
    if (text.length <= maxChars) return text;
  }
  const pieces = writeAll(items, ITEM_CHARS.at(-1) ?? 0);
  let length = 0;
  const first = pieces.findLastIndex((piece) => {
    length += piece.length + 2;
    return length > maxChars;
  });
  return ["[The beginning is left out.]", ...pieces.slice(first + 1)].join("\n\n");
}

function writeAll(items: readonly Item[], itemChars: number): string[] {
  return items.flatMap((item) => {
    const written = writeItem(item);
    return written === undefined ? [] : [cutMiddle(written, itemChars)];
  });
}

function writeItem(item: Item): string | undefined {
  switch (item.type) {
    case "message":
      return `[${item.role}]\n${toPlainText(item.content)}`;
    case "function_call":
      return `[assistant calls ${item.name}, ${item.call_id}]\n${item.arguments}`;
    case "custom_tool_call":
      return `[assistant calls ${item.name}, ${item.call_id}]\n${item.input}`;
    case "function_call_output":
    case "custom_tool_call_output":
      return `[result of ${item.call_id}]\n${toPlainText(item.output)}`;
    case "reasoning":
      return writeReasoning(item);
    case "compaction":
    case "compaction_trigger":
    case "item_reference":
    case "additional_tools":
      return undefined;
    default:
      return `[${item.type}]\n${writeFields(item)}`;
  }
}

function writeReasoning({
  summary,
  content,
}: Extract<Item, { type: "reasoning" }>): string | undefined {
  const texts = [...summary, ...(content ?? [])].map(({ text }) => text);
  return texts.length === 0 ? undefined : `[assistant thinks]\n${texts.join("\n")}`;
}

/** Longer fields without a space are data of images and files. */
const DATA = /^[^\s]{2000,}$/;

function writeFields(item: Item): string {
  return JSON.stringify(item, (key, field: unknown) => {
    if (key === "type" || key === "status" || key === "encrypted_content") return undefined;
    return typeof field === "string" && DATA.test(field) ? "[data]" : field;
  });
}

/** Keeps the beginning and the end, which tell most: what was looked for, and what came out. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n[… ${left} characters …]\n${text.slice(text.length - half)}`;
}
