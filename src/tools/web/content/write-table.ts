/**
 * Writes data tables as Markdown tables. Tables that only arrange content are read cell by cell. A table
 * inside a data table's cell becomes a line of it.
 *
 * Cells and rows are marked while they are written, and joined by the table, because Turndown gives a table
 * its content as one text.
 */

import { flatten, type MarkdownRule } from "./markdown-rule.ts";
import type { PageElement } from "./page-dom.ts";

export const ROW = "\u0002";
export const CELL = "\u0003";

type Kind = "data" | "layout" | "line";

export const tableRules: Readonly<Record<string, MarkdownRule>> = {
  cell: {
    filter: ["td", "th"],
    replacement(content, node) {
      if (kindOf(node.closest("table")) === "layout") return `\n\n${content.trim()}\n\n`;
      const text = content
        .split("\n")
        .map((line) => line.trim().replace(/\s+/g, " "))
        .filter((line) => line !== "")
        .join("<br>");
      const span = Number(node.getAttribute("colspan") ?? 1);
      // A cell over several columns is in the first of them. A page may ask for thousands.
      return `${CELL}${text}${CELL.repeat(Math.min(Math.max(span, 1), 50) - 1)}`;
    },
  },
  row: {
    filter: ["tr"],
    replacement: (content, node) =>
      kindOf(node.closest("table")) === "layout" ? content : `${ROW}${content}`,
  },
  part: { filter: ["thead", "tbody", "tfoot"], replacement: (content) => content },
  caption: { filter: ["caption"], replacement: (content) => `${flatten(content)}\n\n` },
  table: {
    filter: ["table"],
    replacement(content, node) {
      const kind = kindOf(node);
      if (kind === "layout") return `\n\n${content.trim()}\n\n`;
      const [before = "", ...rows] = content.split(ROW);
      const cells = rows.map((row) =>
        row
          .split(CELL)
          .slice(1)
          .map((cell) => cell.trim()),
      );
      if (kind === "line") return toLineOf(cells);
      return `\n\n${before.trim()}\n\n${toTable(cells)}\n\n`;
    },
  },
};

/** Each table is classified once, not once for each cell. */
const KINDS = new WeakMap<PageElement, Kind>();

function kindOf(table: PageElement | null): Kind {
  if (!table) return "layout";
  const kind = KINDS.get(table) ?? decideKind(table);
  KINDS.set(table, kind);
  return kind;
}

function decideKind(table: PageElement): Kind {
  if (/presentation|none/.test(table.getAttribute("role") ?? "")) return "layout";
  // Code stays code: highlighters put line numbers beside it in a table.
  if (table.querySelector("pre")) return "layout";
  const outer = table.parentNode?.closest("table") ?? null;
  if (outer && kindOf(outer) !== "layout") return "line";
  if (table.querySelector("th, thead, caption")) return "data";
  if (table.querySelector("table")) return "layout";
  const rows = [...table.querySelectorAll("tr")];
  return rows.length > 1 && rows.some((row) => [...row.children].length > 1) ? "data" : "layout";
}

function toLineOf(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((row) => row.filter((cell) => cell !== "").join(", "));
  return lines.filter((line) => line !== "").join("; ");
}

/** Markdown has no table without a head, so the first row becomes the head. */
function toTable(rows: readonly (readonly string[])[]): string {
  const filled = rows.filter((row) => row.some((cell) => cell !== ""));
  const columns = Math.max(0, ...filled.map((row) => row.length));
  if (columns === 0) return "";
  const lines = filled.map((row) => {
    const cells = Array.from({ length: columns }, (_, index) => row[index] ?? "");
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  const [head = "", ...body] = lines;
  return [head, `|${" --- |".repeat(columns)}`, ...body].join("\n");
}
