/**
 * Lays out the editor's text as rows, with the caret in one of them. Only the lines around the caret are laid out: a
 * text of a hundred thousand lines costs what its few visible rows cost. Pure.
 */

import type { Caret } from "../../screen/frame.ts";
import { PEN, plainRow, type Row, type RowPiece } from "../../screen/rows.ts";
import { graphemesOf, widthOf, widthOfGrapheme } from "../../screen/width.ts";
import { cleanForTerminal } from "../../terminal.ts";
import type { EditorText } from "./editor.ts";
import type { Folds } from "./folds.ts";
import { lineEnd, lineStart } from "./text-offsets.ts";

export interface EditorRoom {
  readonly columns: number;
  readonly maxRows: number;
  /** The prompts of the first row and of the others; equally wide. */
  readonly prompt: Row;
  readonly margin: Row;
}

export interface EditorPicture {
  readonly rows: readonly Row[];
  readonly caret: Caret;
}

/** A row of the screen, with the part of the text that it shows. */
interface TextRow {
  readonly start: number;
  /** The position after its last grapheme. */
  readonly end: number;
  readonly pieces: Row;
}

export function layOutEditor(now: EditorText, folds: Folds, room: EditorRoom): EditorPicture {
  const columns = toTextColumns(room);
  const rows = rowsAround(now, folds, { columns, maxRows: room.maxRows });
  const at = findCaretRow(rows, now.caret);
  const most = Math.max(1, room.maxRows);
  const first = Math.max(0, Math.min(at - Math.floor(most / 2), rows.length - most));
  const shown = rows.slice(first, first + most);
  const head = (row: TextRow): Row => (row.start === 0 ? room.prompt : room.margin);
  const caretRow = rows[at] ?? { start: 0, end: 0, pieces: [] };
  const before = toPieces(now.text.slice(caretRow.start, now.caret), folds);
  return {
    rows: shown.map((row) => [...head(row), ...row.pieces]),
    caret: { row: at - first, before: [...head(caretRow), ...before] },
  };
}

/** The position of the caret in the row above or below; undefined if there is none. */
export function moveVertically(
  now: EditorText,
  folds: Folds,
  { step, columns }: { readonly step: -1 | 1; readonly columns: number },
): number | undefined {
  const rows = rowsAround(now, folds, { columns, maxRows: 3 });
  const at = findCaretRow(rows, now.caret);
  const from = rows[at];
  const to = rows[at + step];
  if (!from || !to) return undefined;
  const goal = widthOfText(now.text.slice(from.start, now.caret), folds);
  let place = to.start;
  let width = 0;
  for (const grapheme of graphemesOf(now.text.slice(to.start, to.end))) {
    width += widthOfShown(grapheme, folds);
    if (width > goal) break;
    place += grapheme.length;
  }
  return place;
}

export function toTextColumns({ columns, prompt }: Pick<EditorRoom, "columns" | "prompt">): number {
  const taken = prompt.reduce((sum, { text }) => sum + widthOf(text), 0);
  return Math.max(2, columns - taken - 1);
}

/** All rows of the caret's line, and as many lines around it as fit. */
function rowsAround(
  { text, caret }: EditorText,
  folds: Folds,
  { columns, maxRows }: { readonly columns: number; readonly maxRows: number },
): TextRow[] {
  const start = lineStart(text, caret);
  let rows = breakLine(text, { start, end: lineEnd(text, caret) }, { columns, folds });
  for (let from = start, more = maxRows; from > 0 && more > 0; ) {
    const before = lineStart(text, from - 1);
    const above = breakLine(text, { start: before, end: from - 1 }, { columns, folds });
    rows = [...above, ...rows];
    more -= above.length;
    from = before;
  }
  for (let to = lineEnd(text, caret), more = maxRows; to < text.length && more > 0; ) {
    const end = lineEnd(text, to + 1);
    const below = breakLine(text, { start: to + 1, end }, { columns, folds });
    rows.push(...below);
    more -= below.length;
    to = end;
  }
  return rows;
}

interface Breaking {
  readonly columns: number;
  readonly folds: Folds;
}

function breakLine(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  { columns, folds }: Breaking,
): TextRow[] {
  const rows: TextRow[] = [];
  let from = start;
  let at = start;
  let width = 0;
  for (const grapheme of graphemesOf(text.slice(start, end))) {
    const wide = widthOfShown(grapheme, folds);
    if (width + wide > columns && at > from) {
      rows.push({ start: from, end: at, pieces: toPieces(text.slice(from, at), folds) });
      from = at;
      width = 0;
    }
    at += grapheme.length;
    width += wide;
  }
  return [...rows, { start: from, end, pieces: toPieces(text.slice(from, end), folds) }];
}

/** At the break of a row, the caret is shown in the next row, where typed text will appear. */
function findCaretRow(rows: readonly TextRow[], caret: number): number {
  const found = rows.findLastIndex(({ start }) => start <= caret);
  return Math.max(0, found);
}

function toPieces(text: string, folds: Folds): Row {
  const pieces: RowPiece[] = [];
  for (const part of text.split(/([\u{f0000}-\u{f0fff}])/u)) {
    const label = folds.labelOf(part);
    if (label !== undefined) pieces.push({ text: label, pen: PEN.busy });
    else pieces.push(...plainRow(toShown(part)));
  }
  return pieces;
}

function widthOfText(text: string, folds: Folds): number {
  return graphemesOf(text).reduce((sum, grapheme) => sum + widthOfShown(grapheme, folds), 0);
}

function widthOfShown(grapheme: string, folds: Folds): number {
  if (grapheme === "\t") return 2;
  const label = folds.labelOf(grapheme);
  return label === undefined ? widthOfGrapheme(grapheme) : widthOf(label);
}

/** A tab is shown as two blanks, and sent as a tab. */
function toShown(text: string): string {
  return cleanForTerminal(text.replaceAll("\t", "  "));
}
