/** Cleans a server's text for messages and logs: without control characters, on one line, shortened. */

import { withoutControls } from "../../base/terminal-controls.ts";
import { clip } from "../../base/text.ts";

export function toClean(text: string, maxChars: number): string {
  return clip(withoutControls(text, " "), maxChars);
}

/** The end of a text, where programs say why they exit. */
export function toCleanTail(text: string, maxChars: number): string {
  const line = toClean(text, text.length + 1);
  return line.length <= maxChars ? line : `…${line.slice(1 - maxChars)}`;
}
