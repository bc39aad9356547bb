/** Habits of the code that neither the compiler nor the linter checks. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

const ROOT = new URL("../../", import.meta.url);

const sources = ["src", "web"].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes("node_modules"))
    .map((path) => `${folder}/${path}`),
);

/** The lines that match, as `file: line`. */
function find(pattern: RegExp): string[] {
  return sources.flatMap((path) =>
    readFileSync(new URL(path, ROOT), "utf8")
      .split("\n")
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
}

/** Files that still pack several fields or variables into one line. Expand them when you change them, and remove them here. */
const PACKED = /^src\/(engine\/local-runs|responses\/run\/response-body)\.ts: /;

/** Casts over `unknown`, which the compiler cannot check. Lower it when some are gone; see `asJson` and `storedObject`. */
const MOST_CASTS = 107;

describe("the code", () => {
  it("writes each field of an object literal on its own line, without `...{ a, b }`", () => {
    const packed = find(/\.\.\.\{ /).filter((line) => !PACKED.test(line));
    assert.deepEqual(packed, []);
  });

  it("declares each variable by itself, without `const [a, b] = [1, 2]`", () => {
    const packed = find(/\b(?:const|let) \[[\w, ]+\] = \[.*\];$/).filter(
      (line) => !PACKED.test(line) && !line.includes("[..."),
    );
    assert.deepEqual(packed, []);
  });

  it(`has at most ${MOST_CASTS} casts with \`as unknown as\``, () => {
    const casts = find(/\bas unknown as\b/);
    assert.ok(casts.length <= MOST_CASTS, `${casts.length} casts:\n${casts.join("\n")}`);
  });
});
