/**
 * Reads ripgrep's output with `--heading --null --line-number`: for each file its path and a NUL, its
 * lines, and an empty line. Unwanted lines are counted and not decoded: a search for a common word finds
 * hundreds of thousands.
 */

import { MAX_KEPT } from "./page.ts";

export interface MatchHandlers {
  /** Undefined to skip the file. */
  begin(path: string): Wanted | undefined;
  /** The first lines of a file that was not skipped. */
  end(lines: readonly string[], found: Found): void;
}

interface Wanted {
  /** The most lines; fewer are returned if they cost more than `MAX_KEPT`. */
  readonly lines: number;
  /** The cost of each line beside its own bytes. */
  readonly cost: number;
}

interface Found {
  /** The number of lines in the file. */
  readonly count: number;
  /** The cost of the returned lines. */
  readonly cost: number;
}

export interface MatchReader {
  /** Reads a piece, which may end anywhere. */
  take(chunk: Buffer): void;
  /** Called once, after the last piece. */
  finish(): void;
}

const NUL = 0;
const LINE_END = 10;
const NONE = Buffer.alloc(0);

export function createMatchReader({ begin, end }: MatchHandlers): MatchReader {
  let rest: Buffer = NONE;
  let isInFile = false;
  let wanted: Wanted | undefined;
  let lines: string[] = [];
  let count = 0;
  let cost = 0;

  function take(chunk: Buffer): void {
    const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    while (at < data.length) {
      const next = isInFile ? readLines(data, at) : readPath(data, at);
      if (next < 0) break;
      at = next;
    }
    rest = at < data.length ? Buffer.from(data.subarray(at)) : NONE;
  }

  /** Returns the position after the path, or -1 if the piece ends within it. */
  function readPath(data: Buffer, start: number): number {
    const stop = data.indexOf(NUL, start);
    if (stop < 0) return -1;
    open(data.toString("utf8", start, stop));
    return stop + 1;
  }

  /**
   * Reads all complete lines, up to the end of the file or the piece. A loop over the bytes: a call of
   * `indexOf` for every line made a search with 400,000 results take twice as long (bench/files.ts).
   */
  function readLines(data: Buffer, start: number): number {
    let lineStart = start;
    for (let at = start; at < data.length; at++) {
      if (data[at] !== LINE_END) continue;
      if (at === lineStart) {
        close();
        return at + 1;
      }
      readLine(data, lineStart, at);
      lineStart = at + 1;
    }
    return lineStart === start ? -1 : lineStart;
  }

  function open(path: string): void {
    isInFile = true;
    wanted = begin(path.startsWith("./") ? path.slice(2) : path);
    lines = [];
    count = 0;
    cost = 0;
  }

  function readLine(data: Buffer, start: number, stop: number): void {
    if (wanted === undefined || !isDigit(data[start])) return;
    count++;
    if (count > wanted.lines || cost >= MAX_KEPT) return;
    lines.push(data.toString("utf8", start, stop).replace(/\r$/, ""));
    cost += stop - start + wanted.cost;
  }

  function close(): void {
    if (isInFile && wanted !== undefined) end(lines, { count, cost });
    isInFile = false;
  }

  return {
    take,
    finish() {
      if (isInFile && rest.length > 0) readLine(rest, 0, rest.length);
      close();
    },
  };
}

/** A line without a number is ripgrep's own, such as `--` between two groups of lines. */
function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
