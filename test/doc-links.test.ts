/** Links between pages lead to files and headings that exist. The site's generator refuses dead pages, too; this is quicker. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { listPages, ROOT } from "./doc-blocks.ts";

const PAGES = [
  ...listPages(),
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "GLOSSARY.md",
  "SECURITY.md",
  "examples/README.md",
];

/** As GitHub names them: small letters, no punctuation, `-` for blanks; `-1` and so on for repeated ones. */
function readAnchors(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutBlocks(text).matchAll(/^#+ (.+)$/gm)) {
    const name = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    let own = name;
    for (let count = 1; anchors.has(own); count++) own = `${name}-${count}`;
    anchors.add(own);
  }
  return anchors;
}

function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, "");
}

describe("links between pages", () => {
  for (const page of PAGES) {
    it(`of ${page} lead somewhere`, () => {
      const text = withoutBlocks(readFileSync(ROOT + page, "utf8"));
      for (const [, link = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^\w+:/.test(link)) continue;
        const [path = "", anchor] = link.split("#");
        const file = path === "" ? page : join(dirname(page), path);
        assert.ok(existsSync(ROOT + file), `${page} links to ${link}`);
        if (anchor === undefined) continue;
        const anchors = readAnchors(readFileSync(ROOT + file, "utf8"));
        assert.ok(anchors.has(anchor), `${page} links to ${link}, which has no such heading`);
      }
    });
  }
});
