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
  /** The visible lines, without the empty line of the cursor. */
  readonly lines: readonly string[];
  /** The same with its styles, by the numbers that switch them on. */
  readonly looks: readonly (readonly StyledPiece[])[];
  /** Takes what a program has written, as `output.write` does. */
  write(text: string): void;
  /**
   * Breaks the lines that are too long now and joins those that it broke, as tmux and most terminals do. A lower
   * terminal drops the rows below the cursor, then its top. Notifies listeners.
   */
  resize(columns: number, rows?: number): void;
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
  const listeners = new Set<() => void>();
  return {
    output: {
      isTerminal: true,
      get columns() {
        return screen.columns;
      },
      get rows() {
        return Number.isFinite(screen.height) ? screen.height : 24;
      },
      onResize(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
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
    resize(to, height) {
      screen.resize(to, height ?? screen.height);
      for (const listener of listeners) listener();
    },
  };
}

class Screen {
  columns: number;
  height: number;
  written = "";
  #rows: Cell[][] = [[]];
  /** Rows that the terminal has broken: the next one is the rest of the line. */
  #broken = new WeakSet<Cell[]>();
  #row = 0;
  /** The row on the screen and the column, as one remembers them. */
  #saved: readonly [row: number, column: number] = [0, 0];
  #column = 0;
  #wraps = true;
  #look: Omit<StyledPiece, "text"> = { isDim: false, isBold: false, colour: undefined };

  constructor(columns: number, height = Number.POSITIVE_INFINITY) {
    this.columns = columns;
    this.height = height;
  }

  shown(): Cell[][] {
    return this.#rows.at(-1)?.length === 0 ? this.#rows.slice(0, -1) : this.#rows;
  }

  write(text: string): void {
    this.written += text;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is understood
    for (const [token] of text.matchAll(/\x1b\[\??[\d;]*[A-Za-z]|\x1b[78]|[\s\S]/gu))
      this.#take(token);
  }

  resize(columns: number, height: number): void {
    const top = this.#top;
    while (this.#rows.length - top > height && this.#rows.length - 1 > this.#row) this.#rows.pop();
    this.height = height;
    if (columns !== this.columns) this.#reflow(columns);
    if (this.#row >= this.#top) return;
    this.#row = this.#top;
    this.#column = 0;
  }

  get #top(): number {
    return Math.max(0, this.#rows.length - this.height);
  }

  /** The cursor stays at its place in the text. */
  #reflow(columns: number): void {
    const rows: Cell[][] = [];
    let line: Cell[] = [];
    let cursor: readonly [row: number, column: number] = [0, 0];
    for (const [at, row] of this.#rows.entries()) {
      if (at === this.#row) {
        const place = line.length + this.#column;
        cursor = [rows.length + Math.floor(place / columns), place % columns];
      }
      line.push(...row);
      if (this.#broken.has(row)) continue;
      const pieces = inPieces(line, columns);
      for (const piece of pieces.slice(0, -1)) this.#broken.add(piece);
      rows.push(...pieces);
      line = [];
    }
    this.columns = columns;
    this.#rows = rows;
    [this.#row, this.#column] = cursor;
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
    else if (sequence === "\x1b7") this.#saved = [this.#row - this.#top, this.#column];
    else if (sequence === "\x1b8") {
      const [row, column] = this.#saved;
      [this.#row, this.#column] = [this.#top + row, column];
    } else if (sequence === "\x1b[B") this.#row = Math.min(this.#row + 1, this.#rows.length - 1);
    else if (sequence === "\x1b[D") this.#column = Math.max(0, this.#column - 1);
    else if (sequence === "\x1b[C") this.#column = Math.min(this.#column + 1, this.columns - 1);
    else if (sequence === "\x1b[J") {
      assert.ok(this.#column > 0 || this.#row > this.#top, "tmux keeps a screen that is cleared");
      this.#cutRow();
      this.#rows.length = this.#row + 1;
    } else if (sequence.endsWith("A")) {
      this.#row -= count;
      assert.ok(this.#row >= this.#top, "went above the top");
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
    this.#broken.delete(row);
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
