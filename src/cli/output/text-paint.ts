/**
 * Draws Markdown, changes and results of calls on a terminal. Separate from `text-output.ts`, because a run whose
 * output a program reads does not load it.
 */

import type { ToolEnd, ToolStart } from "../../protocol/run-events.ts";
import { createMarkdownStream, type MarkdownStream } from "../screen/markdown/markdown-stream.ts";
import { paintRow, type Row } from "../screen/rows.ts";
import { toDiffRows, toFileChange, toResultRows } from "./tool-rows.ts";

export function openMarkdown(): MarkdownStream {
  return createMarkdownStream();
}

/** The finished rows, and after them the unfinished one, if there is one. */
export function takeRows(
  markdown: MarkdownStream,
  columns: number,
): { readonly rows: string[]; readonly isOpen: boolean } {
  const { finished, open } = markdown.take({ columns, maxOpen: 1, isStyled: true });
  const rows = [...finished.map(({ row }) => row), ...open].map((row) => paintRow(row, true));
  return { rows, isOpen: open.length > 0 };
}

interface Looks {
  /** Shows the complete result. */
  readonly verbose: boolean;
  readonly isStyled: boolean;
}

/** The change of a call as a diff; for other calls a short result. Whole lines. */
export function paintResult(
  call: ToolStart | undefined,
  event: ToolEnd,
  { verbose, isStyled }: Looks,
): string {
  const change = call && toFileChange(call);
  const rows: Row[] = change
    ? toDiffRows(change, verbose ? Number.POSITIVE_INFINITY : undefined)
    : toResultRows(event, verbose);
  return rows.map((row) => `  ${paintRow(row, isStyled)}\n`).join("");
}
