/** Names and what they mean, as lines that stay: side by side, or one under the other where the terminal is narrow. Pure. */

import type { FinishedLine } from "../screen/frame.ts";
import { PEN, plainRow, wrapPieces } from "../screen/rows.ts";
import { widthOf } from "../screen/width.ts";

export type Definition = readonly [name: string, meaning: string];

/** Wide enough for nearly all names. */
const NAME_COLUMNS = 26;
/** Below this the meaning would stand in a narrow column. */
const MIN_COLUMNS = 64;

export function toDefinitionLines(rows: readonly Definition[], columns: number): FinishedLine[] {
  const isNarrow = columns < MIN_COLUMNS;
  const indent = isNarrow ? 4 : NAME_COLUMNS;
  const hanging = plainRow(" ".repeat(indent));
  return rows.flatMap(([name, meaning]) => {
    const isApart = isNarrow || widthOf(name) > indent - 2;
    const head = plainRow(isApart ? name : name.padEnd(indent), PEN.bold);
    const wrapping = { columns: columns - 1, hanging, taken: indent };
    const [first, ...rest] = wrapPieces(plainRow(meaning), wrapping).map(({ row }) => row);
    const beside = first ?? [];
    const lines = isApart ? [head, [...hanging, ...beside]] : [[...head, ...beside]];
    return [...lines, ...rest].map((row): FinishedLine => ({ row }));
  });
}
