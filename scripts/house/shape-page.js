/** The table of docs/shape.md: its column `now`, and what it says of each row. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../packages.js";

const PAGE = join(ROOT, "docs", "shape.md");

/** Each row of the page that begins with a name of `rows` gets its number. Throws where a name is not there. */
export function writePage(rows) {
  const lines = readFileSync(PAGE, "utf8").split("\n");
  for (const [name, value] of rows) {
    const at = lines.findIndex((line) => line.startsWith(`| ${name} |`));
    if (at < 0) throw new Error(`docs/shape.md has no row \`${name}\`.`);
    const [, , then = "", , ...rest] = lines[at].split("|");
    lines[at] = ["", ` ${name} `, then, ` ${value} `, ...rest].join("|");
  }
  writeFileSync(PAGE, lines.join("\n"));
}

/**
 * The rows that the page calls better or equal, and whose number is larger than `then`: less is better in each of
 * them. A rate is compared without the count in brackets.
 */
export function findWorse(rows) {
  const cells = readFileSync(PAGE, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .slice(1, -1)
        .split(" | ")
        .map((cell) => cell.trim()),
    );
  return rows.flatMap(([name, value]) => {
    const [, then, , mark = ""] = cells.find(([first]) => first === name) ?? [];
    if (then === undefined) throw new Error(`docs/shape.md has no row \`${name}\`.`);
    if (!/^(better|equal)\b/.test(mark)) return [];
    const before = toNumbers(then);
    const isWorse = toNumbers(String(value)).some((number, at) => number > (before[at] ?? number));
    return isWorse ? [{ name, then, now: value }] : [];
  });
}

function toNumbers(cell) {
  return (cell.replace(/\(.*\)/, "").match(/[\d.]+/g) ?? []).map(Number);
}
