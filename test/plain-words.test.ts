/** docs/plain-words.md shows sentences that are in use, and old ones that are not. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ROOT, readPage } from "./doc-blocks.ts";

const FOLDERS = ["docs", "examples", "scripts", "src", "test", "web"];
/** Installed packages, and files that other projects wrote. */
const LEFT_OUT = new Set(["node_modules", "published", "recordings", "plain-words.md"]);

function listTexts(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (LEFT_OUT.has(entry.name)) return [];
    if (entry.isDirectory()) return listTexts(path);
    return /\.(?:tsx?|js|md|json)$/.test(entry.name) ? [path] : [];
  });
}

/** One line, without the marks of comments and strings; a value is `…`. */
function toPlain(text: string): string {
  return text
    .replace(/\n\s*(?:\*|\/\/)?\s*/g, " ")
    .replace(/\\(["`|])/g, "$1")
    .replace(/\$\{[^}]*\}/g, "…")
    .replace(/\s+/g, " ");
}

const pages = readdirSync(ROOT).filter((name) => name.endsWith(".md") || name === "package.json");
const paths = [
  ...pages.map((name) => ROOT + name),
  ...FOLDERS.flatMap((name) => listTexts(ROOT + name)),
];
const texts = paths.map((path) => toPlain(readFileSync(path, "utf8")));
const rows = [...readPage("docs/plain-words.md").matchAll(/^\| (\d+) \| (.+) \| (.+) \|$/gm)];

describe("docs/plain-words.md", () => {
  it("has 100 sentences, each once", () => {
    assert.deepEqual(
      rows.map(([, number]) => Number(number)),
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
    assert.equal(new Set(rows.map(([, , before]) => before)).size, 100);
  });

  it("shows what the repository says now", () => {
    const missing = rows.filter(([, , , after = ""]) => {
      const said = toPlain(after);
      return !texts.some((text) => text.includes(said));
    });
    assert.deepEqual(
      missing.map(([line]) => line),
      [],
    );
  });

  it("shows what it no longer says", () => {
    // A shorter one may be a part of another sentence.
    const left = rows.filter(([, , before = ""]) => {
      const said = toPlain(before);
      return said.length >= 30 && texts.some((text) => text.includes(said));
    });
    assert.deepEqual(
      left.map(([line]) => line),
      [],
    );
  });
});
