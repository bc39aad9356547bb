/** Writes rows to a terminal and moves the cursor, with as few bytes as possible. */

export interface DrawnRow {
  readonly painted: string;
  readonly width: number;
  /** True if every terminal gives it this width. */
  readonly isSure: boolean;
  /** The number of terminal rows that it takes; only a finished line takes more than one. */
  readonly height: number;
}

export const BEGIN = "\x1b[?2026h\x1b[?25l";
export const END = "\x1b[?25h\x1b[?2026l";
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";

/** Not with `CLEAR_BELOW` alone: see `live-block.ts`. */
export const CLEAR_ALL = `\r${CLEAR_LINE}\x1b[C${CLEAR_BELOW}\x1b[D`;

export function writeRow({ painted, isSure }: DrawnRow): string {
  return isSure ? painted : `${NO_WRAP}${painted}${WRAP}`;
}

export function writeLine(row: DrawnRow): string {
  return row.height > 1 ? row.painted : writeRow(row);
}

/** Overwrites rows, by their index from the first row that was drawn. */
export class Pen {
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

export function goUp(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

/**
 * Moves down by line breaks, which also make missing rows: a terminal that has become lower has removed rows below
 * its cursor, and a cursor movement would stop at its last row. The column is not defined afterwards.
 */
export function goDown(rows: number): string {
  return "\n".repeat(Math.max(0, rows));
}
