/**
 * Shows tables of Markdown as rows of a terminal: columns as wide as their cells, or with broken cells if there is no
 * room. A table with more columns than fit is shown as text. No row is ever wider than the screen.
 */

import { joinPens, PEN, type Row, type RowPiece, widthOfRow, wrapPieces } from "../rows.ts";
import { parseInline } from "./inline.ts";

export interface TableLayout {
  readonly widths: readonly number[];
  readonly right: readonly boolean[];
  /** Number of screen columns that it was made for. */
  readonly room: number;
}

const GAP = 3;
const LEAST = 3;
const RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

export function isTableLine(line: string): boolean {
  return /^\s*\|/.test(line);
}

export function isTableRule(line: string): boolean {
  return RULE.test(line) && line.includes("-") && line.includes("|");
}

/** Bars after a backslash, or inside code, do not separate cells. */
export function splitCells(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  const cells: string[] = [];
  let cell = "";
  let isCode = false;
  for (let at = 0; at < inner.length; at++) {
    const character = inner[at] ?? "";
    if (character === "\\" && inner[at + 1] === "|") {
      cell += "|";
      at++;
    } else if (character === "|" && !isCode) {
      cells.push(cell.trim());
      cell = "";
    } else {
      if (character === "`") isCode = !isCode;
      cell += character;
    }
  }
  return [...cells, cell.trim()];
}

export function layOutTable(lines: readonly string[], columns: number): TableLayout {
  const [head = "", rule = "", ...body] = lines;
  const right = splitCells(rule).map((cell) => cell.endsWith(":") && !cell.startsWith(":"));
  const count = splitCells(head).length;
  const natural = Array.from({ length: count }, () => LEAST);
  for (const line of [head, ...body]) {
    for (const [at, cell] of splitCells(line).slice(0, count).entries()) {
      natural[at] = Math.max(natural[at] ?? LEAST, widthOfRow(toCell(cell, "")));
    }
  }
  return fitTable({ widths: natural, right, room: columns }, columns);
}

/** The columns fitted to a screen of this width; none if not all of them fit. */
export function fitTable({ widths, right }: TableLayout, room: number): TableLayout {
  const free = room - GAP * (widths.length - 1);
  return { widths: free < LEAST * widths.length ? [] : shrink(widths, free), right, room };
}

/** The widest column shrinks first. */
function shrink(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= LEAST) break;
    const at = widths.indexOf(widest);
    const next = Math.max(LEAST, ...widths.filter((width) => width < widest));
    const less = Math.min(over, Math.max(1, widest - next));
    widths[at] = widest - less;
    over -= less;
  }
  return widths;
}

export function toTableRow(line: string, layout: TableLayout, pen = ""): Row[] {
  const { widths, right, room } = layout;
  if (widths.length === 0) return toText(line, room, pen);
  const cells = splitCells(line).slice(0, widths.length);
  const broken = widths.map((width, at) =>
    wrapPieces(toCell(cells[at] ?? "", pen), { columns: width }).map(({ row }) => row),
  );
  const height = Math.max(1, ...broken.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => {
    const row: RowPiece[] = [];
    for (const [at, width] of widths.entries()) {
      const cell = broken[at]?.[line] ?? [];
      const blank = { text: " ".repeat(Math.max(0, width - widthOfRow(cell))), pen: "" };
      if (at > 0) row.push({ text: " │ ", pen: PEN.dim });
      row.push(...(right[at] ? [blank, ...cell] : [...cell, blank]));
    }
    return row;
  });
}

function toText(line: string, room: number, pen: string): Row[] {
  const cells = splitCells(line).join(" │ ");
  return wrapPieces(toCell(cells, pen), { columns: room }).map(({ row }) => row);
}

export function toTableHead(line: string, layout: TableLayout): Row[] {
  const { widths, room } = layout;
  const isText = widths.length === 0;
  const rule = isText ? "─".repeat(room) : widths.map((width) => "─".repeat(width)).join("─┼─");
  return [...toTableRow(line, layout, PEN.bold), [{ text: rule, pen: PEN.dim }]];
}

function toCell(text: string, pen: string): Row {
  const { pieces } = parseInline(text, { isEnded: true });
  return pieces.map((piece) => ({ text: piece.text, pen: joinPens(pen, piece.pen) }));
}
