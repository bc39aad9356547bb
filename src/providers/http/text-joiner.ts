/** Decodes UTF-8 as it comes, so that the bytes of a long answer are never there as a whole. */

import { StringDecoder } from "node:string_decoder";

export class TextJoiner {
  readonly #pieces: string[] = [];
  #decoder: StringDecoder | undefined;
  #last: Buffer | undefined;

  push(bytes: Buffer): void {
    if (this.#last) this.#decode(this.#last);
    this.#last = bytes;
  }

  /** All of the text. Called once, in place of `joinCut`. */
  join(): string {
    // Most answers are one piece, which needs no decoder.
    if (!this.#last || !this.#decoder) return this.#last?.toString("utf8") ?? "";
    this.#pieces.push(this.#decoder.end(this.#last));
    return this.#joinAll();
  }

  /** The same without a character at its end that is not whole. */
  joinCut(): string {
    if (this.#last) this.#decode(this.#last);
    return this.#joinAll();
  }

  #decode(bytes: Buffer): void {
    this.#decoder ??= new StringDecoder("utf8");
    this.#pieces.push(this.#decoder.write(bytes));
  }

  /** Lets go of the pieces: whoever parses the text needs the memory. */
  #joinAll(): string {
    return this.#pieces.splice(0).join("");
  }
}
