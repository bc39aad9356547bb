/** A real terminal without a screen, fed with our bytes: what is on its screen, what is in its scrollback. */

import headless from "@xterm/headless";

export interface Xterm {
  write(bytes: string): Promise<void>;
  resize(columns: number, rows: number): void;
  /** All lines, the oldest first, without blanks at their ends; rows that the terminal has broken are one line. */
  lines(): string[];
  /** The rows of the screen. */
  screen(): string[];
  /** Where the cursor stands, from 0. */
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
    get cursor() {
      const { cursorX, cursorY } = terminal.buffer.active;
      return { row: cursorY, column: cursorX };
    },
  };
}
