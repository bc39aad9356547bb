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

interface DrawnRow {
  readonly painted: string;
  readonly width: number;
  /** True if every terminal gives it this width. */
  readonly isSure: boolean;
  /** The number of terminal rows that it takes; only a finished line takes more than one. */
  readonly height: number;
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

const BEGIN = "\x1b[?2026h\x1b[?25l";
const END = "\x1b[?25h\x1b[?2026l";
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
/** Not with `CLEAR_BELOW` alone: see `live-block.ts`. */
const CLEAR_ALL = `\r${CLEAR_LINE}\x1b[C${CLEAR_BELOW}\x1b[D`;

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

function writeRow({ painted, isSure }: DrawnRow): string {
  return isSure ? painted : `${NO_WRAP}${painted}${WRAP}`;
}

function writeLine(row: DrawnRow): string {
  return row.height > 1 ? row.painted : writeRow(row);
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

/** Overwrites rows, by their index from the first row that was drawn. */
class Pen {
  #bytes = "";
  #row: number;
  /** The number of rows written whole: a single one needs no synchronized frame. */
  #rewritten = 0;

  constructor(row: number) {
    this.#row = row;
  }

  overwrite(at: number, before: DrawnRow | undefined, after: DrawnRow | undefined): void {
    if (!before || !after || before.painted === after.painted) return;
    this.#goTo(at);
    const canGrow = before.isSure && after.isSure && before.width > 0;
    const grown = canGrow ? toGrown(before.painted, after.painted) : undefined;
    if (grown !== undefined) {
      this.#bytes += `\x1b[${before.width + 1}G${grown}`;
      return;
    }
    this.#rewritten++;
    this.#bytes += `\r${writeRow(after)}${CLEAR_LINE}`;
  }

  /** `isEnd`: no rows are below them. */
  remove(at: number, count: number, isEnd: boolean): void {
    this.#rewritten += 2;
    this.#goTo(at);
    this.#bytes += isEnd ? CLEAR_ALL : `\r\x1b[${count}M`;
  }

  insert(at: number, rows: readonly DrawnRow[], where: { last: number; room: number }): void {
    const { last, room } = where;
    this.#rewritten += 2;
    this.#goTo(last);
    // Inserted rows push others off the bottom of the screen, so empty ones are made there first.
    this.#bytes += `\r${"\n".repeat(room)}`;
    this.#row += room;
    this.#goTo(at);
    if (at <= last) this.#bytes += `\x1b[${room}L`;
    this.#bytes += `\r${rows.map(writeLine).join("\r\n")}`;
    this.#row += room - 1;
  }

  finish(row: number, painted: string): string {
    this.#goTo(row);
    const bytes = `${this.#bytes}\r${painted}`;
    return this.#rewritten > 1 ? `${BEGIN}${bytes}${END}` : bytes;
  }

  #goTo(row: number): void {
    this.#bytes += row < this.#row ? goUp(this.#row - row) : goDown(row - this.#row);
    this.#row = row;
  }
}

/**
 * The rest of the new text if it begins with the old one; the pen at the end of the old text is switched on again.
 */
function toGrown(before: string, after: string): string | undefined {
  if (after.startsWith(before)) return after.slice(before.length);
  if (!before.endsWith(RESET)) return undefined;
  const open = before.slice(0, -RESET.length);
  if (!after.startsWith(open)) return undefined;
  const pen = open.slice(open.lastIndexOf("\x1b["));
  const end = pen.indexOf("m");
  return end < 0 ? undefined : `${pen.slice(0, end + 1)}${after.slice(open.length)}`;
}

const RESET = "\x1b[m";

function goUp(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

/**
 * Moves down by line breaks, which also make missing rows: a terminal that has become lower has removed rows below
 * its cursor, and a cursor movement would stop at its last row. The column is not defined afterwards.
 */
function goDown(rows: number): string {
  return "\n".repeat(Math.max(0, rows));
}
