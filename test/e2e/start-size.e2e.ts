/**
 * How much code the built command reads before it does anything. A limit in bytes and not in time, so that
 * it is the same on every machine. `npm run build` comes first.
 */

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { CLI } from "./command.ts";

const FOLDER = dirname(CLI);

/**
 * The chunks that are loaded together, with their limits in kB. A run with a model server loads `run`,
 * `network` and one wire. Before you raise a limit, find what can be loaded later by `await import`.
 */
const LIMITS: readonly [entry: string, what: string, kB: number][] = [
  ["cli-base.js", "`--version` and the tables of all commands", 75],
  ["cli-run.js", "a run before it knows its model", 530],
  ["cli-network.js", "a run that talks to a server", 295],
];

/** Each file costs half a millisecond to find and load. */
const MOST_FILES = 4;

describe("the built command", () => {
  for (const [entry, what, limit] of LIMITS) {
    it(`reads at most ${limit} kB for ${what}`, () => {
      const own = entry === "cli-network.js" ? new Set(chunksOf("cli-run.js")) : new Set();
      const chunks = chunksOf(entry).filter((chunk) => !own.has(chunk));
      const bytes = chunks.reduce((sum, chunk) => sum + statSync(join(FOLDER, chunk)).size, 0);
      const kB = Math.ceil(bytes / 1000);
      assert.ok(kB <= limit, `${kB} kB in ${chunks.join(", ")}`);
      assert.ok(chunks.length <= MOST_FILES, `${chunks.length} files: ${chunks.join(", ")}`);
    });
  }

  it("is plain ASCII, which needs no decoding, in the part that every run reads", () => {
    for (const chunk of [...chunksOf("cli-run.js"), "cli-network.js"]) {
      const other = /[\x80-\xff]/.exec(readFileSync(join(FOLDER, chunk), "latin1"));
      assert.ok(other === null, `${chunk} has another character at ${other?.index}`);
    }
  });
});

/** A chunk and all that are loaded with it. */
function chunksOf(entry: string): string[] {
  const found = new Set<string>();
  const visit = (chunk: string): void => {
    if (found.has(chunk)) return;
    found.add(chunk);
    for (const next of requiredBy(chunk)) visit(next);
  };
  visit(entry);
  return [...found];
}

/** Code that is loaded later is in a function: `() => require("./cli-calls.js")`. */
function requiredBy(chunk: string): string[] {
  const source = readFileSync(join(FOLDER, chunk), "utf8");
  const found = source.matchAll(/(?<=^|;|[\w$]=)require\([`"']\.\/([^`"']+)[`"']\)/g);
  return [...found].map(([, name = ""]) => name);
}
