/**
 * Lines at the bottom of a terminal that are drawn over in place. Whoever writes anything else there
 * clears them first, or it would be drawn over too; `print` puts lines above them that stay.
 *
 * Between frames the cursor stands at the beginning of the first line. A terminal that changes its size breaks
 * lines, joins them, or takes rows away, and keeps the cursor where its text is; so all that is below the cursor
 * are these lines, whatever became of them, and nobody counts rows. Rows that a lower terminal takes away are
 * those below its cursor, and not the first ones, which would stay in the scrollback.
 *
 * A frame is one write, and only lines that have changed are in it. Nothing is drawn while the last frame
 * has not been taken: a slow terminal gets fewer frames, and not more memory.
 */

import type { Output } from "../io.ts";
import { canRedraw, draw, paint, type Span } from "../terminal.ts";

export type Line = readonly Span[];

export interface LiveBlock {
  readonly isHeld: boolean;
  /** Draws the lines in place of those that are there. Nothing happens while it is held. */
  draw(lines: readonly Line[]): void;
  /** A line that stays, above the others: on the screen with the next frame. */
  print(line: Line): void;
  /** Takes the lines off the screen, if there are any. What was printed is there then. */
  clear(): void;
  /** Clears, and keeps it clear until the returned function is called: for a question. */
  hold(): () => void;
  /** Calls back when the first hold begins and when the last has ended, until the returned function is called. */
  watchHolds(listener: (isHeld: boolean) => void): () => void;
}

/** Draws nothing at all where lines cannot be drawn over; what is printed there is written at once. */
export function createLiveBlock(output: Output): LiveBlock {
  return new Block(output);
}

/** A line that is too wide for the terminal stays one line, whatever width it gives to its characters. */
const [NO_WRAP, WRAP] = ["\x1b[?7l", "\x1b[?7h"];
/**
 * Over rows that are there the cursor goes down without a line break, and back to where it was. A terminal that
 * has just become lower would scroll at a line break, and what leaves its top stays in its scrollback.
 */
const [SAVE, DOWN, RESTORE] = ["\x1b7", "\x1b[B", "\x1b8"];
const [CLEAR_LINE, CLEAR_BELOW] = ["\x1b[K", "\x1b[J"];
/**
 * All lines, from the beginning of the first. Not by `CLEAR_BELOW` alone: in the first column of the screen's
 * first row tmux takes that as clearing the screen, and keeps what was there in its scrollback.
 */
const CLEAR_ALL = `\r${CLEAR_LINE}\x1b[C${CLEAR_BELOW}\x1b[D`;

class Block implements LiveBlock {
  readonly #output: Output;
  /** With their looks. */
  #drawn: readonly string[] = [];
  /** Of the terminal when they were drawn. */
  #size = "";
  /** What was printed and is not on the screen yet. */
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

  draw(lines: readonly Line[]): void {
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

  /** Goes down over the lines, writes those that have changed, and goes back up. */
  #toFrame(next: readonly string[], isWhole: boolean): string {
    const before = isWhole ? [] : this.#drawn;
    const isShorter = next.length < before.length;
    const isSame = (painted: string, at: number): boolean => painted === before[at];
    if (next.length === before.length && next.every(isSame)) return "";
    const last = next.length - 1;
    const body = next.map((painted, at) => {
      // The cursor stands after the last line when what is below it is cleared.
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

  print(line: Line): void {
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

  /** Nothing of the lines, and what was printed in their place. */
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

export function toPlain(line: Line): string {
  return line.map(({ text }) => text).join("");
}

/** A line of the terminal at most: one that it breaks would be two to go up. */
function clipToColumns(line: Line, columns: number): Line {
  if (widthOf(toPlain(line)) <= columns) return line;
  const kept: Span[] = [];
  let left = columns - 1;
  for (const { text, look } of line) {
    const piece = cutToWidth(text, left);
    kept.push({ text: piece, look });
    left -= widthOf(piece);
    if (piece !== text) break;
  }
  return [...kept, { text: "…", look: kept.at(-1)?.look }];
}

/** The text with `…` at its end where it is wider than that. */
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

/** Never too few, except for the signs that we draw ourselves: what may be two columns wide counts as two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    width += code < 0x1100 || OWN_SIGNS.includes(character) ? 1 : 2;
  }
  return width;
}

const OWN_SIGNS = "–…├└│✓✗●○↑↓→←";
