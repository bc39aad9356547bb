/**
 * The live rows of a terminal and what is printed above them. The effect around `frame.ts`: reads the size, writes
 * the bytes, and draws no frame while the last one has not been taken, so that a slow terminal gets fewer frames
 * and not more memory. Finished lines wait for the next frame; none is lost.
 */

import type { Output } from "../io.ts";
import { draw, isStyled } from "../terminal.ts";
import {
  type Drawn,
  type FinishedLine,
  NOTHING_DRAWN,
  type Picture,
  toErased,
  toFrame,
} from "./frame.ts";

export interface LiveArea {
  /** Most rows that a picture may have: the screen without two. */
  readonly maxRows: number;
  readonly columns: number;
  /** A line that stays, above the live rows: on the screen with the next frame. */
  print(lines: readonly FinishedLine[]): void;
  /** True where the frame was written; false while the terminal has not taken the last one. */
  draw(picture: Picture): boolean;
  /** Takes the live rows off; what was printed is there then. For an editor, a command, Ctrl-Z and the end. */
  clear(): void;
  /** What takes the live rows off, for who writes it past the output: at the exit of a process. */
  toErased(): string;
  /** The terminal was somebody else's meanwhile: nothing of what was drawn is there. */
  forget(): void;
}

export function createLiveArea(output: Output): LiveArea {
  return new Area(output);
}

class Area implements LiveArea {
  readonly #output: Output;
  #drawn: Drawn = NOTHING_DRAWN;
  #waiting: FinishedLine[] = [];
  #isBusy = false;

  constructor(output: Output) {
    this.#output = output;
  }

  get maxRows(): number {
    return Math.max(1, (this.#output.rows ?? 24) - 2);
  }

  get columns(): number {
    return Math.max(1, this.#output.columns);
  }

  print(lines: readonly FinishedLine[]): void {
    for (const line of lines) this.#waiting.push(line);
  }

  draw(picture: Picture): boolean {
    if (this.#isBusy) return false;
    const finished = this.#waiting;
    this.#waiting = [];
    const size = { columns: this.columns, rows: Math.max(1, this.#output.rows ?? 24) };
    const wish = { finished, picture, size, isStyled: isStyled(this.#output) };
    const { bytes, drawn } = toFrame(this.#drawn, wish);
    this.#drawn = drawn;
    this.#write(bytes);
    return true;
  }

  clear(): void {
    const size = { columns: this.columns, rows: Math.max(1, this.#output.rows ?? 24) };
    const erased = toErased(this.#drawn, size);
    this.#drawn = NOTHING_DRAWN;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return this.#write(erased);
    const picture = { rows: [[]], caret: { row: 0, before: [] } };
    const wish = { finished: waiting, picture, size, isStyled: isStyled(this.#output) };
    this.#write(`${erased}${toFrame(NOTHING_DRAWN, wish).bytes}`);
  }

  toErased(): string {
    return toErased(this.#drawn, { columns: this.columns, rows: this.#output.rows ?? 24 });
  }

  forget(): void {
    this.#drawn = NOTHING_DRAWN;
  }

  #write(bytes: string): void {
    if (bytes === "") return;
    const written = draw(this.#output, bytes);
    if (!written) return;
    this.#isBusy = true;
    void written.then(() => {
      this.#isBusy = false;
    });
  }
}
