/**
 * What the text form draws on terminals: Markdown, and what calls have changed or brought. Apart from
 * `text-output.ts`, because a run whose output is read by a program has none of it.
 */

import type { ToolEnd, ToolStart } from "../../protocol/run-events.ts";
import { createMarkdownStream, type MarkdownStream } from "../screen/markdown/markdown-stream.ts";
import { paintRow, type Row } from "../screen/rows.ts";
import { toDiffRows, toFileChange, toResultRows } from "./tool-rows.ts";

export function openMarkdown(): MarkdownStream {
  return createMarkdownStream();
}

/** The rows that are finished, and behind them the one that is still being written, if there is one. */
export function takeRows(
  markdown: MarkdownStream,
  columns: number,
): { readonly rows: string[]; readonly isOpen: boolean } {
  const { finished, open } = markdown.take({ columns, maxOpen: 1, isStyled: true });
  const rows = [...finished.map(({ row }) => row), ...open].map((row) => paintRow(row, true));
  return { rows, isOpen: open.length > 0 };
}

interface Looks {
  /** Shows all of it. */
  readonly verbose: boolean;
  readonly isStyled: boolean;
}

/** What a call has changed, as a diff; of any other what came of it, in short. Whole lines. */
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
