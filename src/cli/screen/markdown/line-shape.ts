/**
 * The kind of a line of Markdown, from its beginning: a heading, a list item, a quote, a rule, or plain words.
 */

import { PEN, plainRow, type Row } from "../rows.ts";
import { widthOf } from "../width.ts";

export interface LineShape {
  /** The text before its words in the first row, and in the others. */
  readonly first: Row;
  readonly hanging: Row;
  /** The pen of its words. */
  readonly pen: string;
  /** The words of the line. */
  readonly body: string;
}

interface ShapeRoom {
  readonly columns: number;
  readonly isStyled: boolean;
}

const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/s;
const POINT = /^(\s*)([-*+]|\d{1,9}[.)])(\s+)(.*)$/s;
const QUOTE = /^\s*((?:>\s?)+)(.*)$/s;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const MAX_INDENT = 40;

export function toLineShape(line: string, { columns, isStyled }: ShapeRoom): LineShape {
  if (RULE.test(line)) {
    const text = "─".repeat(Math.min(columns, 40));
    return { first: plainRow(text, PEN.dim), hanging: [], pen: "", body: "" };
  }
  const [, marks = "", title] = HEADING.exec(line) ?? [];
  if (title !== undefined) return toHeading(marks, title, isStyled);
  const [, indent = "", sign = "", gap = "", words] = POINT.exec(line) ?? [];
  if (words !== undefined) {
    const shown = isStyled && !/\d/.test(sign) ? "•" : sign;
    const before = indent.slice(0, MAX_INDENT);
    const first = `${before}${shown}${gap.length > 4 ? " " : gap}`;
    return {
      first: plainRow(first),
      hanging: plainRow(" ".repeat(widthOf(first))),
      pen: "",
      body: words,
    };
  }
  const [, quotes = "", quoted] = QUOTE.exec(line) ?? [];
  if (quoted !== undefined) {
    const depth = quotes.replace(/[^>]/g, "").length;
    const bar = plainRow((isStyled ? "│ " : "> ").repeat(Math.min(depth, 8)), PEN.dim);
    return { first: bar, hanging: bar, pen: PEN.italic, body: quoted };
  }
  const [margin = ""] = /^\s*/.exec(line) ?? [];
  const kept = plainRow(margin.slice(0, MAX_INDENT));
  return { first: kept, hanging: kept, pen: "", body: line.slice(margin.length) };
}

function toHeading(marks: string, title: string, isStyled: boolean): LineShape {
  const first = isStyled ? [] : plainRow(`${marks} `);
  return { first, hanging: [], pen: marks.length < 3 ? PEN.heading : PEN.bold, body: title };
}

export function readFence(
  line: string,
): { readonly marker: string; readonly language: string } | undefined {
  const [, marker, language = ""] = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/.exec(line) ?? [];
  return marker === undefined ? undefined : { marker, language: language.toLowerCase() };
}

export function isFenceEnd(line: string, marker: string): boolean {
  const trimmed = line.trim();
  return trimmed.startsWith(marker) && trimmed.replaceAll(marker[0] ?? "`", "") === "";
}
