/** A live row for each subagent of a run: the rows of the live tree below its root. */

import { NO_USAGE } from "../../protocol/usage.ts";
import type { StyledLine } from "../output/live-block.ts";
import type { LiveTree } from "../output/live-tree.ts";
import { toTreeLines } from "../output/tree-view.ts";
import { clipRow, PEN, type Row } from "../screen/rows.ts";
import type { Look } from "../terminal.ts";

interface ChildRoom {
  readonly columns: number;
  readonly maxRows: number;
  readonly nowMs: number;
}

export function toChildRows(tree: LiveTree, { columns, maxRows, nowMs }: ChildRoom): Row[] {
  const { root, counts } = tree;
  if (!root || maxRows < 1 || counts.running + counts.queued === 0) return [];
  const view = {
    root,
    counts,
    nowMs,
    pickedId: undefined,
    totals: NO_TOTALS,
    limits: { usd: undefined, tokens: undefined },
  };
  const lines = toTreeLines(view, { columns: columns - 1, lines: maxRows + 1, isStyled: true });
  return lines.slice(1, maxRows + 1).map((line) => clipRow(toRow(line), columns - 1));
}

/** The root's line, which has the totals, is not shown here. */
const NO_TOTALS = {
  runs: 0,
  unfinished: 0,
  turns: 0,
  tool_calls: 0,
  calls: 0,
  failed_calls: 0,
  usage: NO_USAGE,
  known_usd: 0,
  unknown_calls: 0,
  cost_usd: 0,
};

function toRow(line: StyledLine): Row {
  return line.map(({ text, look }) => ({ text, pen: look === undefined ? "" : PENS[look] }));
}

const PENS: Readonly<Record<Look, string>> = {
  dim: PEN.dim,
  bold: PEN.bold,
  good: PEN.good,
  bad: PEN.bad,
  warn: PEN.warn,
  busy: PEN.busy,
};
