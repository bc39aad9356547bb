/**
 * Lines at the bottom of a terminal that are drawn over in place. Whoever writes anything else there
 * clears them first, or it would be drawn over too.
 */

import type { Output } from "../io.ts";
import { canRedraw, dim, draw } from "../terminal.ts";

export interface LiveBlock {
  /** Draws the lines in place of those that are there. Nothing happens while it is held. */
  draw(lines: readonly string[]): void;
  /** Takes the lines off the screen, if there are any. */
  clear(): void;
  /** Clears, and keeps it clear until the returned function is called: for a question. */
  hold(): () => void;
}

/** Draws nothing at all where lines cannot be drawn over. */
export function createLiveBlock(output: Output): LiveBlock {
  let drawn: readonly string[] = [];
  let holds = 0;

  const clear = (): void => {
    if (drawn.length === 0) return;
    const rows = countRows(drawn, output.columns);
    drawn = [];
    void draw(output, `\x1b[${rows}A\r\x1b[J`);
  };

  return {
    draw(lines) {
      if (!canRedraw(output) || holds > 0 || isSame(lines, drawn)) return;
      const columns = output.columns;
      const rows = countRows(drawn, columns);
      const up = rows === 0 ? "" : `\x1b[${rows}A\r\x1b[J`;
      drawn = lines.map((line) => clipToColumns(line, columns - 1));
      const text = drawn.map((line) => `${dim(output, line)}\n`).join("");
      if (up !== "" || text !== "") void draw(output, `${up}${text}`);
    },
    clear,
    hold() {
      clear();
      holds++;
      return () => {
        holds--;
      };
    },
  };

  function isSame(lines: readonly string[], shown: readonly string[]): boolean {
    if (lines.length !== shown.length) return false;
    return lines.every((line, at) => clipToColumns(line, output.columns - 1) === shown[at]);
  }
}

/** More than was drawn where the terminal has become narrower since: it breaks the lines then. */
function countRows(lines: readonly string[], columns: number): number {
  return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
}

/** A line of the terminal at most: one that it breaks would be two to go up. */
export function clipToColumns(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let kept = "";
  let width = 1;
  for (const character of line) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Never too few: what may be two columns wide counts as two, and marks above a letter count too. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
  return width;
}
