/**
 * The live part of a chat as rows: the unfinished part of the answer, the work, the words that wait, a menu or a
 * list, the editor, the status. It never takes more rows than there are: the least important gives way first. Pure.
 */

import type { Picture } from "../screen/frame.ts";
import { clipRow, type Row, type RowPiece } from "../screen/rows.ts";
import { toOneLine } from "../terminal.ts";
import type { EditorPicture } from "./editor/layout.ts";

export interface ViewParts {
  readonly open: readonly Row[];
  readonly activity: readonly Row[];
  /** The words that no run has read yet. */
  readonly waiting: readonly Row[];
  /** Lines about the editor: a question, a list to choose from, completions. */
  readonly menu: readonly Row[];
  readonly editor: EditorPicture;
  readonly status: Row;
}

export interface Shares {
  readonly open: number;
  readonly activity: number;
  readonly waiting: number;
  readonly menu: number;
  readonly editor: number;
  readonly status: number;
}

/** If an unfinished answer has more rows, they are printed for good. */
const MAX_OPEN = 12;

/** Divides the rows between the parts, by how many each wants. The editor always has one. */
export function shareRows(maxRows: number, wanted: Omit<Shares, "open" | "status">): Shares {
  let left = Math.max(1, maxRows);
  const give = (want: number, most: number): number => {
    const given = Math.max(0, Math.min(want, most, left));
    left -= given;
    return given;
  };
  const first = give(1, 1);
  const status = give(1, left > 1 ? 1 : 0);
  const menu = give(wanted.menu, Math.max(1, Math.floor(maxRows / 2)));
  const editor = first + give(wanted.editor - first, Math.floor(maxRows / 2));
  const activity = give(wanted.activity, Math.max(1, Math.floor(maxRows / 3)));
  const waiting = give(wanted.waiting, 4);
  return { activity, waiting, menu, editor, status, open: give(MAX_OPEN, MAX_OPEN) };
}

export function toPicture(parts: ViewParts, shares: Shares, columns: number): Picture {
  const clip = (rows: readonly Row[], most: number): Row[] =>
    rows.slice(0, most).map((row) => clipRow(row.map(toOnePiece), columns - 1));
  const above = [
    ...clip(parts.open.slice(-shares.open || parts.open.length), shares.open),
    ...clip(parts.activity, shares.activity),
    ...clip(parts.waiting, shares.waiting),
    ...clip(parts.menu, shares.menu),
  ];
  const { rows, caret } = parts.editor;
  return {
    rows: [...above, ...rows, ...clip([parts.status], shares.status)],
    caret: { row: above.length + caret.row, before: caret.before },
  };
}

/**
 * Titles, prompts, names and commands come from anywhere: they must not move the cursor, and each must be one row.
 */
function toOnePiece({ text, pen }: RowPiece): RowPiece {
  return { text: toOneLine(text).replaceAll("\t", " "), pen };
}
