/** One line for a list of runs: the beginning of the request's text. */

import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";

const TITLE_CHARS = 80;

export function toTitle(items: readonly Item[]): string {
  const message = items.findLast((item) => item.type === "message" && item.role === "user");
  if (message?.type !== "message") return clip(items.at(-1)?.type ?? "response", TITLE_CHARS);
  const { content } = message;
  if (typeof content === "string") return clip(content, TITLE_CHARS);
  // Part by part: all of them together may be megabytes.
  const shown = content.map((part) => clip(textOfPart(part) ?? `[${part.type}]`, TITLE_CHARS));
  return clip(shown.join(" "), TITLE_CHARS);
}
