/**
 * Writes the screens of the live tree that docs/delegation.md shows, from real runs against a scripted model:
 * `npm run docs:tree`. Needs the built command, and `script` of util-linux.
 */

import { writeFileSync } from "node:fs";
import { watchTree } from "../test/e2e/watched-tree.ts";
import { toSvg } from "./pictures/screen-svg.ts";

const TITLE = "A run with 24 subagents, eight of them at work";

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
    write(`tree-${columns}.svg`, toSvg({ title: TITLE, rows: screen.looks, columns }));
    tree.release();
    await tree.terminal.ended;
  }
}

function write(name: string, text: string): void {
  writeFileSync(new URL(name, docs), text);
  console.log(`docs/${name}`);
}

await main();
