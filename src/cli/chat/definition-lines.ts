/**
 * Prints names and their meanings: side by side, or one below the other if the terminal is narrow. Pure.
 */

import type { FinishedLine } from "../screen/frame.ts";
import { PEN, plainRow, wrapPieces } from "../screen/rows.ts";
import { widthOf } from "../screen/width.ts";

export type DefinitionRow = readonly [name: string, meaning: string];

/** Wide enough for nearly all names. */
const NAME_COLUMNS = 26;
/** On a narrower terminal the column for the meaning would be too small. */
const MIN_COLUMNS = 64;

export function toDefinitionLines(rows: readonly DefinitionRow[], columns: number): FinishedLine[] {
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
