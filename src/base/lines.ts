/**
 * Bytes to lines, wherever the bytes are split: inside a character, between CR and LF, mid-line.
 *
 * Fed by callbacks and not as a web stream, which costs more than parsing does (bench/decode.ts).
 */

import { isAscii } from "node:buffer";
import { StringDecoder } from "node:string_decoder";
import { Failure } from "./failure.ts";

/**
 * Longest line kept in memory. A real event of a model is far shorter; a broken server may send one without
 * an end.
 */
const MAX_LINE_CHARS = 64 * 1024 * 1024;

/**
 * Bytes decoded at once if not all are ASCII. One dash makes a whole decoded text take two bytes for each
 * character, which is slower to make and to parse; in blocks it affects its neighbours only. That takes a
 * tenth off such a stream in 16 KB chunks. Small chunks and ASCII are decoded whole, because blocks cost
 * more there.
 */
const BLOCK_BYTES = 2048;

export interface LineReader {
  /** Takes the pieces of the body, in order. */
  push(bytes: Uint8Array): void;
  /** Ends the body. A last line without its line break is a line too. */
  end(): void;
}

interface LineOptions {
  /** `lf`: JSON lines, where a CR is part of the text. `any`: CR, LF and CRLF; a BOM is skipped. */
  readonly endings: "lf" | "any";
  /** Called inside `push` and `end`, once for each line; what it throws comes out there. */
  readonly onLine: (line: string) => void;
}

export function createLineReader({ endings, onLine }: LineOptions): LineReader {
  const decoder = new StringDecoder("utf8");
  const line = createLineBuffer();
  let isFirst = true;
  let endedByCr = false;

  function read(chunk: string): void {
    if (chunk === "") return;
    const text = endings === "any" ? withoutPrefix(chunk) : chunk;
    if (endings === "any" && text.includes("\r")) readAnyLines(text);
    else readLfLines(text);
  }

  /** Removes a BOM at the start, and the LF of a CRLF that was split. */
  function withoutPrefix(text: string): string {
    const skipped = isFirst ? 0xfeff : endedByCr ? 10 : undefined;
    isFirst = false;
    endedByCr = false;
    return text.charCodeAt(0) === skipped ? text.slice(1) : text;
  }

  function readBlocks(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const to = endOfBlock(bytes, from);
      read(decoder.write(bytes.subarray(from, to) as Buffer));
      from = to;
    }
  }

  function readLfLines(text: string): void {
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      onLine(line.take(text.slice(from, at)));
      from = at + 1;
    }
    line.keep(text.slice(from));
  }

  function readAnyLines(text: string): void {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char !== 10 && char !== 13) continue;
      onLine(line.take(text.slice(from, at)));
      if (char === 13 && text.charCodeAt(at + 1) === 10) at++;
      from = at + 1;
    }
    endedByCr = text.endsWith("\r");
    line.keep(text.slice(from));
  }

  return {
    push(bytes) {
      const isWhole = bytes.length <= BLOCK_BYTES || isAscii(bytes);
      if (isWhole) read(decoder.write(bytes as Buffer));
      else readBlocks(bytes);
    },
    end() {
      read(decoder.end());
      if (line.isOpen()) onLine(line.take(""));
    },
  };
}

/** The end of the first line break that a block reaches, so that a block's end splits no line. */
function endOfBlock(bytes: Uint8Array, from: number): number {
  if (bytes.length - from <= BLOCK_BYTES) return bytes.length;
  const at = bytes.indexOf(10, from + BLOCK_BYTES);
  return at === -1 ? bytes.length : at + 1;
}

/**
 * The pieces of a line that has not ended. They are joined once for each line, not for each piece: a line
 * of 4 MB in pieces of 64 bytes would otherwise be copied 65,000 times.
 */
function createLineBuffer(): {
  keep(piece: string): void;
  take(tail: string): string;
  isOpen(): boolean;
} {
  let pieces: string[] = [];
  let chars = 0;
  return {
    keep(piece) {
      if (piece === "") return;
      pieces.push(piece);
      chars += piece.length;
      if (chars <= MAX_LINE_CHARS) return;
      throw new Failure("provider_broke_protocol", "A line of the stream is longer than 64 MB.");
    },
    take(tail) {
      if (chars === 0) return tail;
      pieces.push(tail);
      const line = pieces.join("");
      pieces = [];
      chars = 0;
      return line;
    },
    isOpen: () => chars > 0,
  };
}
