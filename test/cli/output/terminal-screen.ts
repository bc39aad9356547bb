/**
 * A terminal that knows what our own output uses: lines, going up, clearing, breaking long lines or not, and
 * looks. Anything else fails. What has left its top stays readable, as in a terminal's history.
 */

import assert from "node:assert/strict";
import type { Output } from "../../../src/cli/io.ts";
import { widthOf } from "../../../src/cli/output/live-block.ts";

export interface TerminalScreen {
  readonly output: Output;
  /** Everything that was written, with its sequences. */
  readonly written: string;
  /** What is to be seen, without the empty line that the cursor stands in. */
  readonly lines: readonly string[];
  /** The same with its looks, by the numbers that switch them on. */
  readonly looks: readonly (readonly StyledPiece[])[];
  /** Takes what a program has written, as `output.write` does. */
  write(text: string): void;
  /** Breaks the lines that are too long now, as terminals do. */
  resize(columns: number): void;
}

export interface StyledPiece {
  readonly text: string;
  readonly isDim: boolean;
  readonly isBold: boolean;
  /** `31` to `36`; undefined for the usual one. */
  readonly colour: number | undefined;
}

interface Cell extends StyledPiece {
  /** 0 for the right half of a wide character. */
  readonly width: number;
}

interface Size {
  /** Any number of rows when left out. */
  readonly rows?: number;
}

export function createTerminalScreen(width: number, { rows }: Size = {}): TerminalScreen {
  const screen = new Screen(width, rows);
  return {
    output: {
      isTerminal: true,
      get columns() {
        return screen.columns;
      },
      rows: rows ?? 24,
      write: (text) => screen.write(text),
    },
    get written() {
      return screen.written;
    },
    get lines() {
      return screen.shown().map((row) =>
        row
          .map(({ text }) => text)
          .join("")
          .trimEnd(),
      );
    },
    get looks() {
      return screen.shown().map(toPieces);
    },
    write: (text) => screen.write(text),
    resize: (to) => screen.resize(to),
  };
}

class Screen {
  columns: number;
  readonly #height: number;
  written = "";
  #rows: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #wraps = true;
  #look: Omit<StyledPiece, "text"> = { isDim: false, isBold: false, colour: undefined };

  constructor(columns: number, height = Number.POSITIVE_INFINITY) {
    this.columns = columns;
    this.#height = height;
  }

  shown(): Cell[][] {
    return this.#rows.at(-1)?.length === 0 ? this.#rows.slice(0, -1) : this.#rows;
  }

  write(text: string): void {
    this.written += text;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is understood
    for (const [token] of text.matchAll(/\x1b\[\??[\d;]*[A-Za-z]|[\s\S]/gu)) this.#take(token);
  }

  resize(to: number): void {
    this.columns = to;
    this.#rows = this.#rows.flatMap((row) => inPieces(row, to));
    this.#row = this.#rows.length - 1;
    this.#column = this.#rows[this.#row]?.length ?? 0;
  }

  #take(token: string): void {
    if (token === "\r") this.#column = 0;
    else if (token === "\n") this.#break();
    else if (token === "\b") this.#column = Math.max(0, this.#column - 1);
    // A bell is heard, not seen.
    else if (token === "\x07") return;
    else if (token.startsWith("\x1b")) this.#obey(token);
    else this.#put(token);
  }

  #obey(sequence: string): void {
    const count = Number(sequence.slice(2, -1)) || 1;
    if (sequence === "\x1b[?7l" || sequence === "\x1b[?7h") this.#wraps = sequence.endsWith("h");
    else if (sequence.endsWith("m")) this.#change(sequence.slice(2, -1).split(";").map(Number));
    else if (sequence === "\x1b[K") this.#cutRow();
    else if (sequence === "\x1b[J") {
      this.#cutRow();
      this.#rows.length = this.#row + 1;
    } else if (sequence.endsWith("A")) {
      this.#row -= count;
      const top = Math.max(0, this.#rows.length - this.#height);
      assert.ok(this.#row >= top, "went above the top");
    } else assert.fail(`unknown sequence ${JSON.stringify(sequence)}`);
  }

  #change(codes: readonly number[]): void {
    for (const code of codes) {
      if (code === 0) this.#look = { isDim: false, isBold: false, colour: undefined };
      else if (code === 1) this.#look = { ...this.#look, isBold: true };
      else if (code === 2) this.#look = { ...this.#look, isDim: true };
      else if (code === 22) this.#look = { ...this.#look, isDim: false, isBold: false };
      else if (code === 39) this.#look = { ...this.#look, colour: undefined };
      else if (code >= 30 && code < 38) this.#look = { ...this.#look, colour: code };
      else assert.fail(`unknown look ${code}`);
    }
  }

  #cutRow(): void {
    const row = this.#rows[this.#row] ?? [];
    row.length = Math.min(row.length, this.#column);
  }

  #break(): void {
    this.#row++;
    this.#column = 0;
    this.#rows[this.#row] ??= [];
  }

  #put(character: string): void {
    const width = widthOf(character);
    if (this.#column + width > this.columns) {
      if (this.#wraps) this.#break();
      else this.#column = this.columns - width;
    }
    const row = this.#rows[this.#row] ?? [];
    this.#rows[this.#row] = row;
    while (row.length < this.#column) row.push({ ...this.#look, text: " ", width: 1 });
    row[this.#column++] = { ...this.#look, text: character, width };
    if (width === 2) row[this.#column++] = { ...this.#look, text: "", width: 0 };
  }
}

function inPieces(row: readonly Cell[], columns: number): Cell[][] {
  const pieces: Cell[][] = [];
  for (let at = 0; at < row.length; at += columns) pieces.push(row.slice(at, at + columns));
  return pieces.length > 0 ? pieces : [[]];
}

/** Neighbours that look alike are one piece. */
function toPieces(row: readonly Cell[]): StyledPiece[] {
  const pieces: StyledPiece[] = [];
  for (const { width: _, ...cell } of row) {
    const last = pieces.at(-1);
    const isAlike =
      last?.isDim === cell.isDim && last.isBold === cell.isBold && last.colour === cell.colour;
    if (last && isAlike) pieces[pieces.length - 1] = { ...cell, text: last.text + cell.text };
    else pieces.push(cell);
  }
  return pieces;
}
