/**
 * Streams Markdown as rows for a terminal. A line is finished when its source line has ended; the upper rows of a
 * long line are finished as soon as later text cannot change them. Unfinished text is returned as open rows, for the
 * live part of the screen, never more than fit: its upper rows are then printed as they are. So each row is finished
 * once, and the work is bounded by the new text and by the room for the open part.
 *
 * A line break in the source is one on the screen. No control character of the text survives.
 */

import { cleanForTerminal } from "../../terminal.ts";
import type { FinishedLine } from "../frame.ts";
import {
  clipRow,
  PEN,
  plainRow,
  type Row,
  type RowPiece,
  type WrappedRow,
  widthOfRow,
  wrapPieces,
} from "../rows.ts";
import { graphemesOf, widthOfGrapheme } from "../width.ts";
import { type CodeState, highlight } from "./highlight.ts";
import { type Inline, type InlineMark, type InlinePiece, parseInline } from "./inline.ts";
import { isFenceEnd, type LineShape, readFence, toLineShape } from "./line-shape.ts";
import {
  fitTable,
  isTableLine,
  isTableRule,
  layOutTable,
  type TableLayout,
  toTableHead,
  toTableRow,
} from "./table.ts";

export interface MarkdownRoom {
  readonly columns: number;
  /** The most rows that may stay open. */
  readonly maxOpen: number;
  readonly isStyled: boolean;
}

export interface MarkdownRows {
  readonly finished: readonly FinishedLine[];
  readonly open: readonly Row[];
}

export interface MarkdownStream {
  push(text: string): void;
  /** The rows that were finished since the last call, and those that are open now. */
  take(room: MarkdownRoom): MarkdownRows;
  /** The text is complete: the next `take` leaves nothing open. */
  end(): void;
}

export function createMarkdownStream(): MarkdownStream {
  return new Stream();
}

interface Fence {
  readonly marker: string;
  readonly language: string;
}

/** The rest of a line whose upper rows are printed. */
interface BegunLine {
  readonly isCode: boolean;
  readonly hanging: Row;
  readonly pen: string;
  readonly open: readonly InlineMark[];
}

class Stream implements MarkdownStream {
  #pending = "";
  #isEnded = false;
  #fence: Fence | undefined;
  #code: CodeState;
  #table: string[] = [];
  /**
   * The rows of `#table` at this width: made when the table gets another line, not for each frame.
   */
  #openTable: { readonly columns: number; readonly rows: readonly Row[] } | undefined;
  /** Set once rows of a table are printed. */
  #layout: TableLayout | undefined;
  #begun: BegunLine | undefined;
  /** Several blank lines become one, and none stays at the beginning. */
  #wasBlank = true;

  push(text: string): void {
    this.#pending += cleanForTerminal(text).replaceAll("\t", "    ");
  }

  end(): void {
    this.#isEnded = true;
  }

  take(given: MarkdownRoom): MarkdownRows {
    const room = { ...given, columns: Math.max(1, given.columns - 1) };
    const finished: FinishedLine[] = [];
    const lines = this.#pending.split("\n");
    this.#pending = lines.pop() ?? "";
    if (this.#isEnded && this.#pending !== "") {
      lines.push(this.#pending);
      this.#pending = "";
    }
    for (const line of lines) this.#finishLine(line, room, finished);
    if (this.#isEnded) this.#finishTable(room, finished);
    return { finished, open: this.#takeOpen(room, finished) };
  }

  #finishLine(line: string, room: MarkdownRoom, finished: FinishedLine[]): void {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun) return this.#finishBegun(line, begun, { room, finished });
    if (this.#fence) return this.#finishCode(line, this.#fence, finished);
    if (isTableLine(line)) return this.#addToTable(line, room, finished);
    this.#finishTable(room, finished);
    const fence = readFence(line);
    if (fence) {
      this.#fence = fence;
      this.#code = undefined;
      this.#wasBlank = false;
      finished.push({ row: plainRow(line, PEN.dim), isLong: true });
      return;
    }
    if (line.trim() === "") {
      if (!this.#wasBlank) finished.push({ row: [] });
      this.#wasBlank = true;
      return;
    }
    this.#wasBlank = false;
    const shape = toLineShape(line, room);
    const inline = parseInline(shape.body, { isEnded: true, pen: shape.pen });
    for (const { row } of wrapShape(shape, inline.pieces, room)) finished.push({ row });
  }

  #finishBegun(line: string, begun: BegunLine, where: Where): void {
    const { room, finished } = where;
    if (begun.isCode) {
      finished.push({ row: plainRow(line), isLong: true });
      return;
    }
    const { pieces } = parseInline(line, { isEnded: true, open: begun.open, pen: begun.pen });
    const shape = { first: begun.hanging, hanging: begun.hanging };
    for (const { row } of wrapShape(shape, pieces, room)) finished.push({ row });
  }

  #finishCode(line: string, fence: Fence, finished: FinishedLine[]): void {
    if (isFenceEnd(line, fence.marker)) {
      this.#fence = undefined;
      finished.push({ row: plainRow(line, PEN.dim) });
      return;
    }
    const { row, state } = highlight(line, fence.language, this.#code);
    this.#code = state;
    finished.push({ row, isLong: true });
  }

  #addToTable(line: string, room: MarkdownRoom, finished: FinishedLine[]): void {
    this.#wasBlank = false;
    if (this.#layout) {
      // The screen may have become narrower.
      if (this.#layout.room > room.columns) this.#layout = fitTable(this.#layout, room.columns);
      for (const row of toTableRow(line, this.#layout)) finished.push({ row });
      return;
    }
    this.#table.push(line);
    this.#openTable = undefined;
    const hasNoRule = this.#table.length === 2 && !isTableRule(line);
    if (hasNoRule || this.#table.length > Math.max(HELD_TABLE, room.maxOpen))
      this.#printTable(room, finished);
  }

  #finishTable(room: MarkdownRoom, finished: FinishedLine[]): void {
    this.#printTable(room, finished);
    this.#layout = undefined;
  }

  #printTable(room: MarkdownRoom, finished: FinishedLine[]): void {
    if (this.#table.length === 0) return;
    const { rows, layout } = toTableRows(this.#table, room);
    for (const row of rows) finished.push({ row });
    this.#layout = layout;
    this.#table = [];
  }

  #takeOpen(room: MarkdownRoom, finished: FinishedLine[]): readonly Row[] {
    if (this.#table.length > 0) {
      if (this.#openTable?.columns !== room.columns)
        this.#openTable = { columns: room.columns, ...toTableRows(this.#table, room) };
      return this.#openTable.rows.slice(-Math.max(1, room.maxOpen));
    }
    if (this.#pending === "") return [];
    const isCode = this.#begun ? this.#begun.isCode : this.#fence !== undefined;
    return isCode ? this.#takeOpenCode(room, finished) : this.#takeOpenText(room, finished);
  }

  /** A line of code is not broken; only one without an end is printed in pieces. */
  #takeOpenCode(room: MarkdownRoom, finished: FinishedLine[]): readonly Row[] {
    const row = this.#begun
      ? plainRow(this.#pending)
      : highlight(this.#pending, this.#fence?.language ?? "", this.#code).row;
    const rows = chop(row, room.columns);
    const over = rows.length - room.maxOpen;
    if (over <= 0) return rows.map((one) => one.row);
    for (const one of rows.slice(0, over)) finished.push({ row: one.row });
    this.#pending = this.#pending.slice(rows[over - 1]?.end ?? 0);
    this.#begun = { isCode: true, hanging: [], pen: "", open: [] };
    return rows.slice(over).map((one) => one.row);
  }

  #takeOpenText(room: MarkdownRoom, finished: FinishedLine[]): readonly Row[] {
    const begun = this.#begun;
    // The line may be a table or the beginning of code: until that is known it is shown as it is, on one row.
    if (!begun && UNDECIDED.test(this.#pending)) {
      return [clipRow(plainRow(this.#pending, PEN.dim), room.columns)];
    }
    const shape: LineShape = begun
      ? { first: begun.hanging, hanging: begun.hanging, pen: begun.pen, body: this.#pending }
      : toLineShape(this.#pending, room);
    const wish = { isEnded: false, open: begun?.open ?? [], pen: shape.pen };
    const inline = parseInline(shape.body, wish);
    const rows = wrapShape(shape, inline.pieces, room);
    const cut = findCut(rows, { source: shape.body, inline }, room.maxOpen);
    if (!cut) return rows.map(({ row }) => row);
    for (const { row } of rows.slice(0, cut.count)) finished.push({ row });
    this.#wasBlank = false;
    this.#pending = cut.rest;
    const { hanging, pen } = shape;
    this.#begun = { isCode: false, hanging, pen, open: cut.open };
    return rows.slice(cut.count).map(({ row }) => row);
  }
}

/**
 * The columns are as wide as these lines need; a longer table is then printed line by line in columns of that width.
 */
const HELD_TABLE = 20;

const UNDECIDED = /^\s*(?:\||`{3}|`{1,2}$|~{1,3}$)/;

interface Where {
  readonly room: MarkdownRoom;
  readonly finished: FinishedLine[];
}

function toTableRows(
  lines: readonly string[],
  { columns }: MarkdownRoom,
): { readonly rows: readonly Row[]; readonly layout: TableLayout | undefined } {
  const [head = "", rule = ""] = lines;
  if (!isTableRule(rule)) {
    const rows = lines.flatMap((line) => {
      const { pieces } = parseInline(line, { isEnded: true });
      return wrapPieces(pieces, { columns }).map(({ row }) => row);
    });
    return { rows, layout: undefined };
  }
  const layout = layOutTable(lines, columns);
  const body = lines.slice(2).flatMap((line) => toTableRow(line, layout));
  return { rows: [...toTableHead(head, layout), ...body], layout };
}

function wrapShape(
  { first, hanging }: Pick<LineShape, "first" | "hanging">,
  pieces: readonly RowPiece[],
  { columns }: MarkdownRoom,
): WrappedRow[] {
  const rows = wrapPieces(pieces, { columns, hanging, taken: widthOfRow(first) });
  return rows.map((one, at) => (at === 0 ? { ...one, row: [...first, ...one.row] } : one));
}

interface Cut {
  /** The number of finished rows. */
  readonly count: number;
  /** The source after them, and the marks that are open in it. */
  readonly rest: string;
  readonly open: readonly InlineMark[];
}

/**
 * The last row that more text cannot change. If too many rows would stay open, it may be any row.
 */
function findCut(
  rows: readonly WrappedRow[],
  { source, inline }: { readonly source: string; readonly inline: Inline },
  maxOpen: number,
): Cut | undefined {
  for (let at = rows.length - 2; at >= 0; at--) {
    const place = findPlace(inline, rows[at]?.end ?? 0);
    const mustCut = rows.length - 1 - at >= maxOpen;
    if (!mustCut && (place.inside || place.source > inline.safe)) continue;
    const rest = `${place.inside ?? ""}${source.slice(place.source)}`;
    return { count: at + 1, rest, open: place.open };
  }
  return undefined;
}

interface SourcePlace {
  readonly source: number;
  /** If the position is inside a piece that can only be read whole: the rest of that piece. */
  readonly inside: string | undefined;
  readonly open: readonly InlineMark[];
}

/** The position in the source after this many shown characters. */
function findPlace({ pieces, open }: Inline, shown: number): SourcePlace {
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    const end = at + piece.text.length;
    if (end > shown) return findInside(pieces.slice(index), shown - at);
    at = end;
  }
  return { source: pieces.at(-1)?.end ?? 0, inside: undefined, open };
}

function findInside(pieces: readonly InlinePiece[], skipped: number): SourcePlace {
  const [piece] = pieces;
  if (!piece) return { source: 0, inside: undefined, open: [] };
  const { open, resume, isWhole, start, end } = piece;
  if (skipped === 0 && resume !== undefined) return { source: resume, inside: undefined, open };
  if (!isWhole) return { source: start + skipped, inside: undefined, open };
  const same = pieces.filter((one) => one.start === start && one.isWhole);
  const text = same
    .map((one) => one.text)
    .join("")
    .slice(skipped);
  // The words are escaped, so that none of them is read as a mark.
  return { source: end, inside: text.replace(/[!-/:-@[-`{-~]/g, "\\$&"), open };
}

interface Chopped {
  readonly row: Row;
  readonly end: number;
}

/** Broken at the edge of the screen, not at blanks. */
function chop(row: Row, columns: number): Chopped[] {
  const rows: Chopped[] = [];
  let pieces: RowPiece[] = [];
  let width = 0;
  let at = 0;
  for (const { text, pen } of row) {
    let kept = "";
    for (const grapheme of graphemesOf(text)) {
      const wide = widthOfGrapheme(grapheme);
      if (width + wide > columns && width > 0) {
        rows.push({ row: kept === "" ? pieces : [...pieces, { text: kept, pen }], end: at });
        pieces = [];
        kept = "";
        width = 0;
      }
      kept += grapheme;
      width += wide;
      at += grapheme.length;
    }
    if (kept !== "") pieces.push({ text: kept, pen });
  }
  return [...rows, { row: pieces, end: at }];
}
