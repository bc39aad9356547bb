/**
 * Lines at the bottom of a terminal that are overwritten in place. Other output clears them first, or it would be
 * overwritten too; `print` puts lines above them that stay.
 *
 * Between frames the cursor is at the beginning of the first line. A terminal that changes its size breaks lines,
 * joins them, or removes rows, and keeps the cursor at its text. So all below the cursor are these lines, whatever
 * became of them, and rows need not be counted. If a terminal becomes lower, it removes rows below its cursor, and
 * not the first ones, which would stay in the scrollback.
 *
 * A frame is one write, and has only lines that have changed. Nothing is drawn before the last frame was taken: a
 * slow terminal gets fewer frames, and needs no more memory.
 */

import type { Output } from "../io.ts";
import { canRedraw, draw, paint, type StyledSpan } from "../terminal.ts";

export type StyledLine = readonly StyledSpan[];

export interface LiveBlock {
  readonly isHeld: boolean;
  /** Draws the lines in place of the present ones. Does nothing while it is held. */
  draw(lines: readonly StyledLine[]): void;
  /** Puts a line that stays above the others; it appears with the next frame. */
  print(line: StyledLine): void;
  /** Removes the lines from the screen. Printed lines are there afterwards. */
  clear(): void;
  /** Clears, and draws nothing until the returned function is called: for a question. */
  hold(): () => void;
  /**
   * Calls back when the first hold begins and when the last has ended, until the returned function is called.
   */
  watchHolds(listener: (isHeld: boolean) => void): () => void;
}

/** If lines cannot be overwritten it draws nothing, and printed lines are written at once. */
export function createLiveBlock(output: Output): LiveBlock {
  return new Block(output);
}

/** Keeps a line that is too wide on one row, whatever width the terminal gives its characters. */
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
/**
 * Over existing rows the cursor moves down without a line break, and back. A terminal that has just become lower
 * would scroll at a line break, and the rows that leave its top stay in its scrollback.
 */
const SAVE = "\x1b7";
const DOWN = "\x1b[B";
const RESTORE = "\x1b8";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
/**
 * Clears all lines, from the beginning of the first. Not with `CLEAR_BELOW` alone: in the first column of the
 * screen's first row, tmux treats that as clearing the screen, and keeps the old rows in its scrollback.
 */
const CLEAR_ALL = `\r${CLEAR_LINE}\x1b[C${CLEAR_BELOW}\x1b[D`;

class Block implements LiveBlock {
  readonly #output: Output;
  /** The drawn lines, with their colours. */
  #drawn: readonly string[] = [];
  /** The size of the terminal when they were drawn. */
  #size = "";
  /** Printed text that is not on the screen yet. */
  #above = "";
  #holds = 0;
  #isBusy = false;
  readonly #listeners = new Set<(isHeld: boolean) => void>();

  constructor(output: Output) {
    this.#output = output;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  draw(lines: readonly StyledLine[]): void {
    if (!canRedraw(this.#output) || this.#holds > 0 || this.#isBusy) return;
    const { columns, rows } = this.#output;
    const next = lines.map((line) => paint(this.#output, clipToColumns(line, columns - 1)));
    const size = `${columns}x${rows}`;
    const isWhole = this.#above !== "" || size !== this.#size || this.#drawn.length === 0;
    this.#size = size;
    const wiped = isWhole ? this.#wiped() : "";
    this.#write(`${wiped}${this.#toFrame(next, isWhole)}`);
    this.#drawn = next;
  }

  /** Moves down over the lines, rewrites those that have changed, and moves back up. */
  #toFrame(next: readonly string[], isWhole: boolean): string {
    const before = isWhole ? [] : this.#drawn;
    const isShorter = next.length < before.length;
    const isSame = (painted: string, at: number): boolean => painted === before[at];
    if (next.length === before.length && next.every(isSame)) return "";
    const last = next.length - 1;
    const body = next.map((painted, at) => {
      // When the rows below are cleared, the cursor is after the last line.
      const isLeft = isSame(painted, at) && !(isShorter && at === last);
      return isLeft ? "" : `${painted}${CLEAR_LINE}`;
    });
    if (next.length > before.length) {
      const up = last > 0 ? `\x1b[${last}A` : "";
      return `${NO_WRAP}${body.join("\n")}\r${up}${WRAP}`;
    }
    const rest = isShorter ? CLEAR_BELOW : "";
    return `${SAVE}${NO_WRAP}${body.join(`\r${DOWN}`)}${rest}${WRAP}${RESTORE}`;
  }

  print(line: StyledLine): void {
    const text = `${paint(this.#output, line)}\n`;
    if (canRedraw(this.#output)) this.#above += text;
    else this.#write(text);
  }

  clear(): void {
    if (this.#holds > 0 || (this.#drawn.length === 0 && this.#above === "")) return;
    this.#write(this.#wiped());
    this.#drawn = [];
  }

  hold(): () => void {
    this.clear();
    this.#holds++;
    if (this.#holds === 1) this.#tell(true);
    return () => {
      this.#holds--;
      if (this.#holds === 0) this.#tell(false);
    };
  }

  watchHolds(listener: (isHeld: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(isHeld: boolean): void {
    for (const listener of this.#listeners) listener(isHeld);
  }

  /** Removes the lines and writes the printed text in their place. */
  #wiped(): string {
    const above = this.#above;
    this.#above = "";
    return `${this.#drawn.length > 0 ? CLEAR_ALL : ""}${above}`;
  }

  #write(text: string): void {
    if (text === "") return;
    const written = draw(this.#output, text);
    if (!written) return;
    this.#isBusy = true;
    void written.then(() => {
      this.#isBusy = false;
    });
  }
}

export function toPlain(line: StyledLine): string {
  return line.map(({ text }) => text).join("");
}

/** At most one row of the terminal: a line that it breaks would be two rows to move up. */
function clipToColumns(line: StyledLine, columns: number): StyledLine {
  if (widthOf(toPlain(line)) <= columns) return line;
  const kept: StyledSpan[] = [];
  let left = columns - 1;
  for (const { text, look } of line) {
    const piece = cutToWidth(text, left);
    kept.push({ text: piece, look });
    left -= widthOf(piece);
    if (piece !== text) break;
  }
  return [...kept, { text: "…", look: kept.at(-1)?.look }];
}

/** The text, with `…` at its end if it is too wide. */
export function clipToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return columns < 1 ? "" : `${cutToWidth(text, columns - 1)}…`;
}

function cutToWidth(text: string, columns: number): string {
  let kept = "";
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return kept;
}

/**
 * Never too small, except for the signs that we draw ourselves: a character that may be two columns wide counts as
 * two.
 */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    width += code < 0x1100 || OWN_SIGNS.includes(character) ? 1 : 2;
  }
  return width;
}

const OWN_SIGNS = "–…├└│✓✗●○↑↓→←";
