/**
 * Prints a person's words as lines that stay: all of a short text, else its beginning and its length. Pure.
 */

import { withThousands } from "../../base/text.ts";
import type { FinishedLine } from "../screen/frame.ts";
import { cleanForTerminal } from "../terminal.ts";
import { MARGIN, PROMPT } from "./prompt-field.ts";
import { wrapLine } from "./transcript.ts";

/** As much as the editor shows of a paste before it folds it. */
const MAX_LINES = 20;
const MAX_CHARS = 4000;

export function toSaidLines(words: string, columns: number, pen: string): FinishedLine[] {
  const shown = cleanForTerminal(shorten(words));
  const [first, ...rest] = wrapLine(shown, pen, columns - 2);
  return [
    { row: [...PROMPT, ...(first?.row ?? [])] },
    ...rest.map(({ row }): FinishedLine => ({ row: [...MARGIN, ...row] })),
  ];
}

function shorten(words: string): string {
  const lines = words.split("\n");
  if (lines.length <= MAX_LINES && words.length <= MAX_CHARS) return words;
  // Not in the middle of a surrogate pair.
  const kept = lines.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARS);
  const whole = kept.replace(/[\ud800-\udbff]$/, "");
  return `${whole}\n… (lines: ${withThousands(lines.length)}, characters: ${withThousands(words.length)})`;
}
