/** Decodes UTF-8 as it comes, so that the bytes of a long answer are never there as a whole. */

import { StringDecoder } from "node:string_decoder";

export interface TextJoiner {
  push(bytes: Buffer): void;
  /** All of the text. Called once, in place of `joinCut`. */
  join(): string;
  /** The same without a character at its end that is not whole. */
  joinCut(): string;
}

export function createTextJoiner(): TextJoiner {
  const pieces: string[] = [];
  let decoder: StringDecoder | undefined;
  let last: Buffer | undefined;
  const decode = (bytes: Buffer): void => {
    decoder ??= new StringDecoder("utf8");
    pieces.push(decoder.write(bytes));
  };
  /** Lets go of the pieces: whoever parses the text needs the memory. */
  const joinAll = (): string => pieces.splice(0).join("");
  return {
    push(bytes) {
      if (last) decode(last);
      last = bytes;
    },
    join() {
      // Most answers are one piece, which needs no decoder.
      if (!last || !decoder) return last?.toString("utf8") ?? "";
      pieces.push(decoder.end(last));
      return joinAll();
    },
    joinCut() {
      if (last) decode(last);
      return joinAll();
    },
  };
}
