/**
 * The live rows of a terminal and the lines printed above them: the effects around `frame.ts`. It reads the size,
 * writes the bytes, and draws no frame before the last one was taken, so that a slow terminal gets fewer frames and
 * needs no more memory. Finished lines wait for the next frame; none is lost.
 */

import type { Output } from "../io.ts";
import { draw, isStyled } from "../terminal.ts";
import {
  type Drawn,
  type FinishedLine,
  NOTHING_DRAWN,
  type Picture,
  type Size,
  toErased,
  toFrame,
} from "./frame.ts";

export interface LiveArea {
  /** The most rows of a picture: those of the screen minus two. */
  readonly maxRows: number;
  readonly columns: number;
  /** Adds lines that stay above the live rows; they appear with the next frame. */
  print(lines: readonly FinishedLine[]): void;
  /**
   * Returns the length of the written frame; undefined while the terminal has not taken the last one.
   */
  draw(picture: Picture): number | undefined;
  /**
   * Removes the live rows; printed lines are there afterwards. For an editor, a command, Ctrl-Z and the end.
   */
  clear(): void;
  /**
   * The bytes that remove the live rows, for code that writes past the output: at the exit of a process.
   */
  toErased(): string;
  /** Another program had the terminal: nothing that was drawn is there any more. */
  forget(): void;
  /**
   * Call it when the terminal reports another size. It may have had it for a while, and broken what was drawn.
   */
  hearOfSize(): void;
}

/** tmux reports a new size a quarter of a second late. */
const UNHEARD_MS = 300;

interface AreaParts {
  readonly output: Output;
  /** See `Size`. */
  readonly reflows: boolean;
  readonly now: () => number;
}

export function createLiveArea(parts: AreaParts): LiveArea {
  return new Area(parts);
}

class Area implements LiveArea {
  readonly #output: Output;
  readonly #reflows: boolean;
  readonly #now: () => number;
  #drawn: Drawn = NOTHING_DRAWN;
  #waiting: FinishedLine[] = [];
  #isBusy = false;
  /** When rows were last inserted or removed. */
  #movedAtMs = Number.NEGATIVE_INFINITY;
  /**
   * True if rows may have been inserted between the parts of others: each counts as one until all are drawn again.
   */
  #isDoubtful = false;

  constructor({ output, reflows, now }: AreaParts) {
    this.#output = output;
    this.#reflows = reflows;
    this.#now = now;
  }

  get maxRows(): number {
    return Math.max(1, this.#size.rows - 2);
  }

  get columns(): number {
    return Math.max(1, this.#output.columns);
  }

  print(lines: readonly FinishedLine[]): void {
    for (const line of lines) this.#waiting.push(line);
  }

  draw(picture: Picture): number | undefined {
    if (this.#isBusy) return undefined;
    const finished = this.#waiting;
    this.#waiting = [];
    const wish = { finished, picture, size: this.#size, isStyled: isStyled(this.#output) };
    const { bytes, drawn } = toFrame(this.#drawn, wish);
    if (finished.length > 0 || drawn.rows.length !== this.#drawn.rows.length)
      this.#movedAtMs = this.#now();
    this.#drawn = drawn;
    this.#isDoubtful = false;
    this.#write(bytes);
    return bytes.length;
  }

  clear(): void {
    const erased = this.toErased();
    this.#drawn = NOTHING_DRAWN;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return this.#write(erased);
    const picture = { rows: [[]], caret: { row: 0, before: [] } };
    const wish = { finished: waiting, picture, size: this.#size, isStyled: isStyled(this.#output) };
    this.#write(`${erased}${toFrame(NOTHING_DRAWN, wish).bytes}`);
  }

  toErased(): string {
    return toErased(this.#drawn, this.#size);
  }

  forget(): void {
    this.#drawn = NOTHING_DRAWN;
  }

  hearOfSize(): void {
    if (this.#now() - this.#movedAtMs < UNHEARD_MS) this.#isDoubtful = true;
  }

  get #size(): Size {
    const rows = Math.max(1, this.#output.rows ?? 24);
    return { columns: this.columns, rows, reflows: this.#reflows && !this.#isDoubtful };
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
