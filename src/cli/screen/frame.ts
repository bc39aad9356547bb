/**
 * The rows at the bottom of a terminal that change, and the lines printed above them for good. Pure: it computes the
 * bytes that turn what is drawn into what should be shown.
 *
 * Finished rows and live rows are one list. The common beginning and end of the old and the new list stay as they
 * are; between them, rows are continued, overwritten, inserted or removed. So a live row that is finished costs
 * nothing, a growing text costs its growth, and a row that has left the live rows is never written again.
 *
 * Between frames the real cursor is at the caret: input methods and screen readers expect it there.
 */

import {
  BEGIN,
  CLEAR_ALL,
  type DrawnRow,
  END,
  goDown,
  goUp,
  Pen,
  writeLine,
  writeRow,
} from "./row-pen.ts";
import { paintRow, type Row, textOf, widthOfRow } from "./rows.ts";
import { isSureWidth } from "./width.ts";

/** A line that is finished: from now on it belongs to the terminal. */
export interface FinishedLine {
  readonly row: Row;
  /** Wider than the screen, so that the terminal breaks it: copying it gives one line. */
  readonly isLong?: boolean;
}

export interface Caret {
  /** Index among the live rows, from 0. */
  readonly row: number;
  /**
   * The text before it in that row: written again to move there, whatever width the terminal gives it.
   */
  readonly before: Row;
}

export interface Picture {
  readonly rows: readonly Row[];
  readonly caret: Caret;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
  /**
   * True if the terminal breaks its rows again when it becomes narrower; others cut them off. False if it is not
   * certain: removing one row too few leaves a copy, one row too many removes a finished line.
   */
  readonly reflows: boolean;
}

/** The present content of the terminal. */
export interface Drawn {
  readonly rows: readonly DrawnRow[];
  readonly caretRow: number;
  readonly caretColumns: number;
  readonly caretPainted: string;
  readonly size: Size;
}

export const NOTHING_DRAWN: Drawn = {
  rows: [],
  caretRow: 0,
  caretColumns: 0,
  caretPainted: "",
  size: { columns: 0, rows: 0, reflows: false },
};

interface Frame {
  readonly bytes: string;
  readonly drawn: Drawn;
}

export interface FrameWish {
  readonly finished: readonly FinishedLine[];
  readonly picture: Picture;
  readonly size: Size;
  readonly isStyled: boolean;
}

/** If the lines would need more batches, it is cheaper to write the live rows again below them. */
const MAX_BATCHES = 4;

export function toFrame(before: Drawn, wish: FrameWish): Frame {
  let bytes = "";
  let drawn = before;
  for (const finished of toBatches(before, wish)) {
    const frame = toOneFrame(drawn, { ...wish, finished });
    bytes += frame.bytes;
    drawn = frame.drawn;
  }
  return { bytes: bytes.replaceAll(`${END}${BEGIN}`, ""), drawn };
}

/**
 * Groups of finished lines that can be inserted above the live rows at once; one group if that is not cheaper.
 */
function toBatches(before: Drawn, wish: FrameWish): (readonly FinishedLine[])[] {
  const { finished, picture, size } = wish;
  const room = Math.min(size.rows, LOWEST_SCREEN) - picture.rows.length;
  const all = [finished];
  if (finished.length > room * MAX_BATCHES || !hasSize(before, size)) return all;
  const batches: FinishedLine[][] = [[]];
  let left = room;
  for (const line of finished) {
    const { height } = toDrawnLine(line, wish);
    if (height > room) return all;
    if (height > left) {
      batches.push([]);
      left = room;
    }
    batches.at(-1)?.push(line);
    left -= height;
  }
  return batches.length > MAX_BATCHES ? all : batches;
}

function hasSize({ size }: Drawn, { columns, rows }: Size): boolean {
  return size.columns === columns && size.rows === rows;
}

function toOneFrame(before: Drawn, wish: FrameWish): Frame {
  const { finished, picture, size, isStyled } = wish;
  const live = picture.rows.map((row) => toDrawnRow(row, isStyled));
  const done = finished.map((line) => toDrawnLine(line, wish));
  const caretPainted = paintRow(picture.caret.before, isStyled);
  const caretColumns = widthOfRow(picture.caret.before);
  const drawn = { rows: live, caretRow: picture.caret.row, caretColumns, caretPainted, size };
  const caret = { row: picture.caret.row + done.length, painted: caretPainted };
  const next = { all: [...done, ...live], caret, live: live.length };
  const isPatched = hasSize(before, size) && canChange(next.all, size);
  const bytes = isPatched ? change(before, next) : redraw(before, next, size);
  return { bytes, drawn };
}

/** Removes all live rows, and leaves the cursor at the place of the first one. */
export function toErased(before: Drawn, size: Size): string {
  if (before.rows.length === 0) return "";
  return `${goUp(rowsAbove(before, size))}${CLEAR_ALL}`;
}

interface Next {
  readonly all: readonly DrawnRow[];
  /** Index in `all`. */
  readonly caret: { readonly row: number; readonly painted: string };
  /** How many of them are live. */
  readonly live: number;
}

function toDrawnRow(row: Row, isStyled: boolean): DrawnRow {
  const text = textOf(row);
  return {
    painted: paintRow(row, isStyled),
    width: widthOfRow(row),
    isSure: isSureWidth(text),
    height: 1,
  };
}

function toDrawnLine(
  { row, isLong = false }: FinishedLine,
  { isStyled, size }: FrameWish,
): DrawnRow {
  const drawn = toDrawnRow(row, isStyled);
  // A line that was made for a wider screen is broken too.
  const isBroken = isLong || (drawn.isSure && drawn.width > size.columns);
  const height = isBroken ? Math.max(1, Math.ceil(drawn.width / size.columns)) : 1;
  return { ...drawn, height };
}

/**
 * tmux reports a new size a quarter of a second late. On a screen that has become lower meanwhile nothing must be
 * lost, so rows are inserted only if all of them fit on a low screen. More rows are printed from top to bottom, which
 * works at any height.
 */
const LOWEST_SCREEN = 10;

/** True if all of it is on the screen at once, and its rows can be counted. */
function canChange(all: readonly DrawnRow[], { rows }: Size): boolean {
  const height = all.reduce((sum, row) => sum + row.height, 0);
  return (
    height <= Math.min(rows, LOWEST_SCREEN) && all.every((row) => row.height === 1 || row.isSure)
  );
}

/**
 * Writes all rows again: after a change of the size, and if more is printed than the screen holds.
 */
function redraw(before: Drawn, { all, caret, live }: Next, size: Size): string {
  const wiped = before.rows.length > 0 ? `${goUp(rowsAbove(before, size))}${CLEAR_ALL}` : "\r";
  const finished = all.slice(0, all.length - live);
  const printed = finished.map((row) => `${writeLine(row)}\r\n`).join("");
  const below = all.slice(finished.length).map(writeRow).join("\r\n");
  const back = `${goUp(all.length - 1 - caret.row)}\r${caret.painted}`;
  return `${BEGIN}${wiped}${printed}${below}${back}${END}`;
}

/** The number of terminal rows above the cursor's, at the present width. */
function rowsAbove({ rows, caretRow, caretColumns }: Drawn, { columns, reflows }: Size): number {
  if (!reflows) return caretRow;
  const above = rows.slice(0, caretRow);
  const count = above.reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / columns)), 0);
  return count + Math.floor(caretColumns / columns);
}

/** Writes only what differs. */
function change(before: Drawn, next: Next): string {
  const old = before.rows;
  const { all, caret } = next;
  const isSame = (one: DrawnRow | undefined, two: DrawnRow | undefined): boolean =>
    one !== undefined &&
    two !== undefined &&
    one.painted === two.painted &&
    one.height === two.height;
  const least = Math.min(old.length, all.length);
  let head = 0;
  while (head < least && isSame(old[head], all[head])) head++;
  let tail = 0;
  while (tail < least - head && isSame(old.at(-1 - tail), all.at(-1 - tail))) tail++;
  const isDone = head === old.length && head === all.length;
  if (isDone && caret.row === before.caretRow && caret.painted === before.caretPainted) return "";
  const pen = new Pen(before.caretRow);
  const both = least - head - tail;
  const removed = old.length - least;
  const added = all.slice(head + both, all.length - tail);
  const room = added.reduce((sum, row) => sum + row.height, 0);
  const hasLong = all.slice(head, head + both).some(({ height }) => height > 1);
  // A line of several rows cannot replace one row.
  if (hasLong) return changeWhole(before, next, head);
  for (let at = head; at < head + both; at++) pen.overwrite(at, old[at], all[at]);
  if (removed > 0) pen.remove(head + both, removed, old.length === removed + head + both);
  if (room > 0) pen.insert(head + both, added, { last: old.length - 1, room });
  const toCaret = toCaretRow(all, caret.row);
  return pen.finish(toCaret, caret.painted);
}

/** Writes everything from the first row that differs. */
function changeWhole(before: Drawn, { all, caret }: Next, head: number): string {
  const up = before.caretRow - head;
  const start = `${up > 0 ? goUp(up) : goDown(-up)}${CLEAR_ALL}`;
  const body = all.slice(head).map(writeLine).join("\r\n");
  const below = all.slice(caret.row + 1).reduce((sum, { height }) => sum + height, 0);
  return `${BEGIN}${start}${body}${goUp(below)}\r${caret.painted}${END}`;
}

function toCaretRow(all: readonly DrawnRow[], row: number): number {
  return all.slice(0, row).reduce((sum, { height }) => sum + height, 0);
}
