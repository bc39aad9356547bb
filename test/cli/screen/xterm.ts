/** A real terminal without a screen, fed with our bytes: what is on its screen, what is in its scrollback. */

import headless, { type IBufferCell, type IBufferLine } from "@xterm/headless";
import type { StyledPiece } from "../output/terminal-screen.ts";

export interface Xterm {
  write(bytes: string): Promise<void>;
  resize(columns: number, rows: number): void;
  /** All lines, the oldest first, without blanks at their ends; rows that the terminal has broken are one line. */
  lines(): string[];
  /** The rows of the screen. */
  screen(): string[];
  /** The same with their styles, without blanks at their ends. */
  looks(): StyledPiece[][];
  /** The position of the cursor, from 0. */
  readonly cursor: { readonly row: number; readonly column: number };
}

/** `reflows`: whether it breaks rows again when it becomes narrower, or cuts them off as xterm itself does. */
export function createXterm(columns: number, rows: number, { reflows = true } = {}): Xterm {
  const terminal = new headless.Terminal({
    cols: columns,
    rows,
    scrollback: 1_000_000,
    allowProposedApi: true,
    // The way to a terminal without it: an old console of Windows.
    ...(reflows ? {} : { windowsPty: { backend: "conpty", buildNumber: 1 } as const }),
  });
  const row = (at: number): string =>
    terminal.buffer.active.getLine(at)?.translateToString(true) ?? "";
  return {
    write: (bytes) => new Promise((resolve) => terminal.write(bytes, resolve)),
    resize: (width, height) => terminal.resize(width, height),
    lines() {
      const { active } = terminal.buffer;
      const lines: string[] = [];
      for (let at = 0; at < active.length; at++) {
        const isWrapped = active.getLine(at)?.isWrapped ?? false;
        if (isWrapped) lines.push((lines.pop() ?? "") + row(at));
        else lines.push(row(at));
      }
      return lines.map((line) => line.trimEnd());
    },
    screen() {
      const { active } = terminal.buffer;
      return Array.from({ length: terminal.rows }, (_, at) => row(active.baseY + at).trimEnd());
    },
    looks() {
      const { active } = terminal.buffer;
      return Array.from({ length: terminal.rows }, (_, at) =>
        toPieces(active.getLine(active.baseY + at), terminal.cols),
      );
    },
    get cursor() {
      const { cursorX, cursorY } = terminal.buffer.active;
      return { row: cursorY, column: cursorX };
    },
  };
}

/** Neighbours with one look are one piece. */
function toPieces(line: IBufferLine | undefined, columns: number): StyledPiece[] {
  const length = line?.translateToString(true).length ?? 0;
  const pieces: StyledPiece[] = [];
  for (let at = 0, seen = 0; at < columns && seen < length; at++) {
    const cell = line?.getCell(at);
    if (!cell || cell.getWidth() === 0) continue;
    const piece = toPiece(cell);
    seen += piece.text.length;
    const last = pieces.at(-1);
    const { text: _, ...look } = piece;
    if (last && isSameLook(last, piece))
      pieces[pieces.length - 1] = { ...look, text: last.text + piece.text };
    else pieces.push(piece);
  }
  return pieces;
}

function toPiece(cell: IBufferCell): StyledPiece {
  return {
    text: cell.getChars() || " ",
    isDim: cell.isDim() !== 0,
    isBold: cell.isBold() !== 0,
    colour: cell.isFgPalette() ? 30 + (cell.getFgColor() % 8) : undefined,
  };
}

function isSameLook(one: StyledPiece, two: StyledPiece): boolean {
  return one.isDim === two.isDim && one.isBold === two.isBold && one.colour === two.colour;
}
