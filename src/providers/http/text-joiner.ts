/** Decodes UTF-8 while it arrives, so that the bytes of a long answer are never in memory as a whole. */

import { StringDecoder } from "node:string_decoder";

export class TextJoiner {
  readonly #pieces: string[] = [];
  #decoder: StringDecoder | undefined;
  #last: Buffer | undefined;

  push(bytes: Buffer): void {
    if (this.#last) this.#decode(this.#last);
    this.#last = bytes;
  }

  /** The whole text. Call it once, in place of `joinCut`. */
  join(): string {
    // Most answers are one piece, which needs no decoder.
    if (!this.#last || !this.#decoder) return this.#last?.toString("utf8") ?? "";
    this.#pieces.push(this.#decoder.end(this.#last));
    return this.#joinAll();
  }

  /** The text so far, without an incomplete character at its end. */
  joinCut(): string {
    if (this.#last) this.#decode(this.#last);
    return this.#joinAll();
  }

  #decode(bytes: Buffer): void {
    this.#decoder ??= new StringDecoder("utf8");
    this.#pieces.push(this.#decoder.write(bytes));
  }

  /** Releases the pieces, because the caller needs the memory to parse the text. */
  #joinAll(): string {
    return this.#pieces.splice(0).join("");
  }
}
