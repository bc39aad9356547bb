/**
 * Text with styles, as rows of a terminal. A pen is the numbers of an SGR sequence (`1;36`) that switches a style on;
 * the empty pen is plain text. A piece must not contain control characters: code that makes a piece from foreign text
 * cleans it first.
 */

import { cutToColumns, graphemesOf, widthOf, widthOfGrapheme } from "./width.ts";

export interface RowPiece {
  readonly text: string;
  readonly pen: string;
}

export type Row = readonly RowPiece[];

/** The pens in use: the sixteen colours of the terminal itself, so that they fit its background. */
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

/** Both styles at once. */
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

/** One row of at most this many columns, with `…` if something was cut. */
export function clipRow(row: Row, columns: number): Row {
  if (widthOfRow(row) <= columns) return row;
  const kept: RowPiece[] = [];
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
  /** The beginning of the rows after the first; as wide as that of the first. */
  readonly hanging?: Row;
  /** The number of columns that are already taken in the first row. */
  readonly taken?: number;
}

/**
 * A row of a longer text, and the number of characters (UTF-16) of the text before the row's end.
 */
export interface WrappedRow {
  readonly row: Row;
  /** Blanks at which the row was broken are counted, and not shown. */
  readonly end: number;
}

/**
 * Breaks a text into rows, at blanks if possible, else between graphemes. Always returns at least one row, and a
 * finite number: a grapheme that is wider than the column is placed in it anyway.
 */
export function wrapPieces(
  pieces: Row,
  { columns, hanging = [], taken = 0 }: Wrapping,
): WrappedRow[] {
  const width = widthOfRow(hanging);
  // A margin that leaves no room for words is dropped.
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
  readonly #rows: WrappedRow[] = [];
  #row: RowPiece[] = [];
  #width: number;
  /** A word that may continue in the next piece, with another pen. */
  #word: RowPiece[] = [];
  #wordWidth = 0;
  #wordEnd = 0;
  /** Blanks before that word, which are dropped if the row is broken there. */
  #blank: RowPiece | undefined;
  #blankEnd = 0;

  constructor(columns: number, margin: Margin) {
    this.#columns = columns;
    this.#margin = margin;
    this.#width = margin.taken;
  }

  add(piece: RowPiece, end: number): void {
    if (!piece.text.startsWith(" ")) {
      this.#word.push(piece);
      this.#wordWidth += widthOf(piece.text);
      this.#wordEnd = end;
      return;
    }
    this.#putWord();
    // Blanks from two pieces are one gap.
    const before = this.#blank?.text ?? "";
    this.#blank = { text: `${before}${piece.text}`, pen: piece.pen };
    this.#blankEnd = end;
  }

  finish(end: number): WrappedRow[] {
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
    // Never wider than the row: the next word decides where it is broken.
    const text = this.#blank.text.slice(0, Math.max(0, this.#columns - this.#width));
    if (text !== "") this.#row.push({ text, pen: this.#blank.pen });
    this.#width += text.length;
    this.#blank = undefined;
  }

  /** The word whole if it fits, else broken between graphemes. */
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

  #putBroken({ text, pen }: RowPiece, start: number): number {
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

function lengthOf(pieces: readonly RowPiece[]): number {
  return pieces.reduce((sum, { text }) => sum + text.length, 0);
}
