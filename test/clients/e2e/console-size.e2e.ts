/** The files that a browser loads for the console stay small, because every user waits for them. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { gzipSync } from "node:zlib";

const BUILT = new URL("../../../../dist/console/", import.meta.url);
const MOST_BYTES = 100_000;

it("the console's script is under 100 kB compressed", () => {
  const page = readFileSync(new URL("index.html", BUILT), "utf8");
  const scripts = [...page.matchAll(/[\w-]+\.js/g)].map(([name]) => name);
  assert.equal(scripts.length, 1);
  const bytes = gzipSync(readFileSync(new URL(scripts[0] ?? "", BUILT))).length;
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
});
