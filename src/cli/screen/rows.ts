/**
 * Text with looks, as rows of a terminal. A pen is what switches a look on, as the numbers of an SGR sequence
 * (`1;36`); the empty pen is plain text. Nothing in a piece may be a control character: whoever makes one from
 * words that are not ours cleans them first.
 */

import { cutToColumns, graphemesOf, widthOf, widthOfGrapheme } from "./width.ts";

export interface Piece {
  readonly text: string;
  readonly pen: string;
}

export type Row = readonly Piece[];

/** The pens that we use: the sixteen colours of the terminal itself, so that they fit its ground. */
export const PEN = {
  plain: "",
  dim: "2",
  bold: "1",
  italic: "3",
  underline: "4",
  strike: "9",
  good: "32",
  bad: "31",
  warn: "33",
  busy: "36",
  code: "36",
  heading: "1;35",
  link: "4;34",
  keyword: "35",
  string: "32",
  number: "33",
  comment: "2",
  selected: "7",
} as const;

export function plainRow(text: string, pen = ""): Row {
  return text === "" ? [] : [{ text, pen }];
}

/** Both looks at once. */
export function joinPens(one: string, other: string): string {
  if (one === "" || one === other) return other;
  return other === "" ? one : `${one};${other}`;
}

export function textOf(row: Row): string {
  return row.map(({ text }) => text).join("");
}

export function widthOfRow(row: Row): number {
  return row.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** The row as bytes. Neighbours with one pen share its sequences. */
export function paintRow(row: Row, isStyled: boolean): string {
  if (!isStyled) return textOf(row);
  let painted = "";
  let pen = "";
  for (const piece of row) {
    if (piece.text === "") continue;
    if (piece.pen !== pen) {
      if (pen !== "") painted += RESET;
      if (piece.pen !== "") painted += `\x1b[${piece.pen}m`;
      pen = piece.pen;
    }
    painted += piece.text;
  }
  return pen === "" ? painted : `${painted}${RESET}`;
}

const RESET = "\x1b[m";

/** One row of at most so many columns, with `…` where something was cut. */
export function clipRow(row: Row, columns: number): Row {
  if (widthOfRow(row) <= columns) return row;
  const kept: Piece[] = [];
  let left = columns - 1;
  for (const { text, pen } of row) {
    const piece = cutToColumns(text, left);
    kept.push({ text: piece, pen });
    left -= widthOf(piece);
    if (piece !== text) break;
  }
  return columns < 1 ? [] : [...kept, { text: "…", pen: kept.at(-1)?.pen ?? "" }];
}

export interface Wrapping {
  readonly columns: number;
  /** What the rows after the first begin with; as wide as it is there. */
  readonly hanging?: Row;
  /** Of the first row: how many columns are taken already. */
  readonly taken?: number;
}

/** A row that was made of a longer one, and how many characters (UTF-16) of its text came before its end. */
export interface Wrapped {
  readonly row: Row;
  /** Blanks at which the row was broken are counted, and not shown. */
  readonly end: number;
}

/**
 * Breaks a text into rows, at blanks where there are some, else between graphemes. Always gives one row, and
 * never an endless number: a column too narrow for a wide grapheme holds it all the same.
 */
export function wrapPieces(pieces: Row, { columns, hanging = [], taken = 0 }: Wrapping): Wrapped[] {
  const width = widthOfRow(hanging);
  // A margin that leaves no room for words is none.
  const [margin, indent] = width * 2 > columns ? [[], 0] : [hanging, width];
  const wrapper = new Wrapper(Math.max(1, columns), { hanging: margin, indent, taken });
  let at = 0;
  for (const { text, pen } of pieces) {
    for (const [word] of text.matchAll(/ +|[^ ]+/g)) {
      wrapper.add({ text: word, pen }, at + word.length);
      at += word.length;
    }
  }
  return wrapper.finish(at);
}

interface Margin {
  readonly hanging: Row;
  readonly indent: number;
  readonly taken: number;
}

class Wrapper {
  readonly #columns: number;
  readonly #margin: Margin;
  readonly #rows: Wrapped[] = [];
  #row: Piece[] = [];
  #width: number;
  /** A word that may go on in the next piece, with another pen. */
  #word: Piece[] = [];
  #wordWidth = 0;
  #wordEnd = 0;
  /** Blanks before that word: gone where the row is broken there. */
  #blank: Piece | undefined;
  #blankEnd = 0;

  constructor(columns: number, margin: Margin) {
    this.#columns = columns;
    this.#margin = margin;
    this.#width = margin.taken;
  }

  add(piece: Piece, end: number): void {
    if (!piece.text.startsWith(" ")) {
      this.#word.push(piece);
      this.#wordWidth += widthOf(piece.text);
      this.#wordEnd = end;
      return;
    }
    this.#putWord();
    // Blanks that two pieces bring are one gap.
    const before = this.#blank?.text ?? "";
    this.#blank = { text: `${before}${piece.text}`, pen: piece.pen };
    this.#blankEnd = end;
  }

  finish(end: number): Wrapped[] {
    this.#putWord();
    this.#putBlank();
    this.#rows.push({ row: this.#row, end });
    const { hanging } = this.#margin;
    if (hanging.length === 0) return this.#rows;
    return this.#rows.map((one, at) =>
      at === 0 ? one : { ...one, row: [...hanging, ...one.row] },
    );
  }

  #putWord(): void {
    if (this.#word.length === 0) return;
    const gap = this.#blank?.text.length ?? 0;
    const room = this.#columns - this.#width - gap;
    const isEmpty = this.#row.length === 0;
    if (this.#wordWidth <= room || (isEmpty && gap === 0)) this.#putBlank();
    else if (this.#wordWidth <= this.#columns - this.#margin.indent || room < 1) {
      this.#break(this.#blank ? this.#blankEnd : this.#wordEnd - lengthOf(this.#word));
      this.#blank = undefined;
    } else this.#putBlank();
    this.#putGraphemes();
  }

  #putBlank(): void {
    if (!this.#blank) return;
    // Never wider than the row: what stands after it decides where it is broken.
    const text = this.#blank.text.slice(0, Math.max(0, this.#columns - this.#width));
    if (text !== "") this.#row.push({ text, pen: this.#blank.pen });
    this.#width += text.length;
    this.#blank = undefined;
  }

  /** Whole where it fits, else broken between graphemes. */
  #putGraphemes(): void {
    if (this.#width + this.#wordWidth <= this.#columns) {
      this.#row.push(...this.#word);
      this.#width += this.#wordWidth;
    } else {
      let at = this.#wordEnd - lengthOf(this.#word);
      for (const piece of this.#word) at = this.#putBroken(piece, at);
    }
    this.#word = [];
    this.#wordWidth = 0;
  }

  #putBroken({ text, pen }: Piece, start: number): number {
    let at = start;
    let kept = "";
    for (const grapheme of graphemesOf(text)) {
      const width = widthOfGrapheme(grapheme);
      const hasText = kept !== "" || this.#row.length > 0;
      if (this.#width + width > this.#columns && hasText) {
        if (kept !== "") this.#row.push({ text: kept, pen });
        kept = "";
        this.#break(at);
      }
      kept += grapheme;
      at += grapheme.length;
      this.#width += width;
    }
    if (kept !== "") this.#row.push({ text: kept, pen });
    return at;
  }

  #break(end: number): void {
    this.#rows.push({ row: this.#row, end });
    this.#row = [];
    this.#width = this.#margin.indent;
  }
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { text }) => sum + text.length, 0);
}
