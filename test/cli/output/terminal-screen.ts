/** A terminal that knows what our own output uses: lines, going up, clearing to the end, dimming. */

import assert from "node:assert/strict";
import type { Output } from "../../../src/cli/io.ts";

export interface TerminalScreen {
  readonly output: Output;
  /** Everything that was written, with its sequences. */
  readonly written: string;
  /** What is to be seen, without the empty line that the cursor stands in. */
  readonly lines: readonly string[];
  /** Breaks the lines that are too long now, as terminals do. */
  resize(columns: number): void;
}

export function createTerminalScreen(width: number): TerminalScreen {
  let columns = width;
  let written = "";
  /** Each row of the screen; the cursor is in row `at`, at its end. */
  let rows = [""];
  let at = 0;

  function write(text: string): void {
    written += text;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is understood
    for (const [token] of text.matchAll(/\x1b\[\d*[A-Za-z]|[\s\S]/gu)) put(token);
  }

  function put(token: string): void {
    // The cursor only ever goes to the beginning of a row to clear it.
    if (token === "\r" || token === "\x1b[2m" || token === "\x1b[22m") return;
    if (token === "\n") {
      at++;
      rows[at] ??= "";
    } else if (token.endsWith("A") && token.startsWith("\x1b")) {
      at -= Number(token.slice(2, -1));
      assert.ok(at >= 0, "went above the top");
    } else if (token === "\x1b[J") {
      rows = [...rows.slice(0, at), ""];
    } else {
      assert.ok(!token.startsWith("\x1b"), `unknown sequence ${JSON.stringify(token)}`);
      rows[at] = (rows[at] ?? "") + token;
    }
  }

  return {
    output: {
      isTerminal: true,
      get columns() {
        return columns;
      },
      write,
    },
    get written() {
      return written;
    },
    get lines() {
      return rows.at(-1) === "" ? rows.slice(0, -1) : rows;
    },
    resize(to) {
      columns = to;
      rows = rows.flatMap((row) => row.match(new RegExp(`.{1,${to}}`, "gu")) ?? [""]);
      at = rows.length - 1;
    },
  };
}
