/**
 * Writes the screens of the live tree that docs/delegation.md shows, from real runs against a scripted model:
 * `npm run docs:tree`. Needs the built command, and `script` of util-linux.
 */

import { writeFileSync } from "node:fs";
import type { StyledPiece } from "../test/cli/output/terminal-screen.ts";
import { watchTree } from "../test/e2e/watched-tree.ts";

// From build/scripts/ up to the checkout.
const docs = new URL("../../docs/", import.meta.url);

async function main(): Promise<void> {
  for (const [columns, rows] of [
    [120, 30],
    [80, 24],
    [40, 24],
  ] as const) {
    await using tree = await watchTree({ columns, rows });
    await tree.settle();
    const screen = tree.read();
    write(`tree-${columns}.txt`, `${screen.lines.join("\n")}\n`);
    write(`tree-${columns}.svg`, toSvg(screen.looks, columns));
    tree.release();
    await tree.terminal.ended;
  }
}

function write(name: string, text: string): void {
  writeFileSync(new URL(name, docs), text);
  console.log(`docs/${name}`);
}

/** The sixteen colours of a terminal are its own; these are legible on the picture's ground. */
const COLOURS: Readonly<Record<number, string>> = {
  31: "#ff7b72",
  32: "#7ee787",
  33: "#e3b341",
  36: "#76e3ea",
};
const [TEXT, DIM, GROUND] = ["#e6edf3", "#8b949e", "#0d1117"];
const [CHARACTER, LINE, MARGIN] = [7.8, 18, 14];

function toSvg(rows: readonly (readonly StyledPiece[])[], columns: number): string {
  const [width, height] = [columns * CHARACTER + 2 * MARGIN, rows.length * LINE + 2 * MARGIN];
  const lines = rows.map((pieces, at) => {
    const spans = pieces.map(toSpan).join("");
    return `<text x="${MARGIN}" y="${MARGIN + 13 + at * LINE}">${spans}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    "<title>A run with 24 subagents, eight of them at work</title>",
    `<rect width="100%" height="100%" rx="8" fill="${GROUND}"/>`,
    `<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" xml:space="preserve" fill="${TEXT}">`,
    ...lines,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function toSpan({ text, isDim, isBold, colour }: StyledPiece): string {
  const shown = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const fill = COLOURS[colour ?? 0] ?? (isDim ? DIM : TEXT);
  const weight = isBold ? ' font-weight="bold"' : "";
  return `<tspan fill="${fill}"${weight}>${shown}</tspan>`;
}

await main();
