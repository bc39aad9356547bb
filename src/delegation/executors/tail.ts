/** The end of what a process says, for the message when it fails. */

import { clip } from "../../base/text.ts";

/** Enough for a line of an error and what leads to it. */
const MAX_BYTES = 8 * 1024;
const MAX_CHARS = 600;

export interface Tail {
  push(bytes: Uint8Array): void;
  /** Our own last line of an error, or else the last lines there are; on one line. */
  read(): string;
}

export function createTail(): Tail {
  let kept = Buffer.alloc(0);
  return {
    push(bytes) {
      kept = Buffer.concat([kept, bytes]).subarray(-MAX_BYTES);
    },
    read() {
      const lines = kept
        .toString("utf8")
        .split("\n")
        .filter((line) => line.trim() !== "");
      const own = lines.findLast((line) => line.startsWith(LEAD))?.slice(LEAD.length);
      const text = own ?? lines.slice(-3).join(" ");
      // Nothing in another's words may move the cursor of whoever reads them.
      return clip(text.replace(/\p{Cc}+/gu, " "), MAX_CHARS);
    },
  };
}

/** How the command begins a line about what is wrong. */
const LEAD = "offshoot: ";
