/** Every block of code in README.md and docs/ is run by a test, or says why none can run it. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, it } from "node:test";
import { type DocBlock, listPages, ROOT, readBlocks, readPage } from "./doc-blocks.ts";

/** What test/e2e/docs.e2e.ts knows how to run. */
const RUNNABLE = ["console", "json", "sh", "ts", "yaml"];

describe("the blocks of code", () => {
  const all = listPages().flatMap(readBlocks);
  it("the blocks of code in the docs are found", () => assert.ok(all.length > 200));

  it("the blocks of code in the docs are run, except those that docs/shape.md counts", () => {
    const left = all.filter(({ reason }) => reason !== undefined);
    const [, counted] = /^\*\*(\d+) blocks\*\* /m.exec(readPage("docs/shape.md")) ?? [];
    const places = left.map(({ page, line, reason }) => `${page}:${line}: ${reason}`).join("\n");
    assert.equal(left.length, Number(counted), places);
  });

  for (const page of listPages()) {
    it(`of ${page} each have a test, or a reason why not`, () => {
      const blocks = readBlocks(page);
      assert.equal(
        blocks.length * 2,
        readPage(page).match(/^ *```/gm)?.length ?? 0,
        "every fence is closed",
      );
      for (const [at, block] of blocks.entries()) {
        const place = `${page}:${block.line}`;
        assert.notEqual(block.text.trim(), "", place);
        checkBlock(block, blocks[at - 1], place);
      }
    });
  }
});

function checkBlock(block: DocBlock, before: DocBlock | undefined, place: string): void {
  const { page, language, testedBy, reason, until, file, onTerminal, isList } = block;
  if (reason !== undefined) assert.ok(reason.length > 15, `${place}: say why it is not run`);
  else if (testedBy !== undefined) checkTest(testedBy, page, place);
  else if (file === undefined && until === undefined && !onTerminal && !isList) {
    const isOutput = language === "text" && before?.language === "sh" && !before.reason;
    assert.ok(isOutput || RUNNABLE.includes(language), `${place}: no test runs ${language}`);
  }
}

/** A test that claims a page's blocks reads that page, so that the two cannot differ. */
function checkTest(path: string, page: string, place: string): void {
  assert.ok(existsSync(ROOT + path), `${place}: ${path} does not exist`);
  if (path === "test/docs.test.ts") return;
  const code = readFileSync(ROOT + path, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
  const isRead = /\b(?:readBlocks|readPage|blockWith|readFile|readFileSync)\(/.test(code);
  assert.ok(isRead && code.includes(basename(page)), `${place}: ${path} does not read the page`);
}

describe("docs/README.md", () => {
  it("names every page of docs/", () => {
    const index = readPage("docs/README.md");
    const named = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => `docs/${name}`);
    const pages = listPages().filter((page) => !page.endsWith("README.md"));
    assert.deepEqual([...new Set(named)].sort(), pages);
  });

  for (const page of listPages().filter((name) => name !== "README.md")) {
    it(`${page} opens with what its reader can do, in a sentence under the title`, () => {
      const [title = "", first = ""] = readPage(page)
        .replace(/^<!--.*-->\n/gm, "")
        .split(/\n\n+/);
      assert.match(title, /^# /);
      assert.match(first, /\byou(r|rs)?\b/i, `${page}: ${first.slice(0, 80)}`);
      assert.doesNotMatch(first, /^(```|#|\|)/, "a sentence comes first");
    });
  }
});
