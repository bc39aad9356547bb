/** A server's words in messages and logs: without control characters, on one line, clipped. */

import { clip } from "../../base/text.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const SEQUENCES = /\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]?|\x1b./gs;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

export function toClean(text: string, maxChars: number): string {
  return clip(text.replace(SEQUENCES, "").replace(CONTROLS, " "), maxChars);
}

/** The end of a text, where programs say why they leave. */
export function toCleanTail(text: string, maxChars: number): string {
  const line = toClean(text, text.length + 1);
  return line.length <= maxChars ? line : `…${line.slice(1 - maxChars)}`;
}
