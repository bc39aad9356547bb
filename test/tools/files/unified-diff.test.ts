import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { toUnifiedDiff } from "../../../src/tools/files/unified-diff.ts";
import { programLack, unless } from "../../needs.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

const lines = (...all: (string | number)[]): string => all.map((line) => `${line}\n`).join("");
const COUNT = Array.from({ length: 30 }, (_, at) => at + 1);

describe("toUnifiedDiff", () => {
  it("shows a change with the lines around it", () => {
    const before = lines(...COUNT);
    const after = before.replace("10\n", "ten\n");
    const expected = ["--- a/f", "+++ b/f", "@@ -7,7 +7,7 @@", " 7", " 8", " 9", "-10", "+ten"];
    assert.equal(toUnifiedDiff("f", before, after), [...expected, " 11", " 12", " 13"].join("\n"));
  });

  it("is empty if nothing changed", () => {
    assert.equal(toUnifiedDiff("f", "a\n", "a\n"), "");
  });

  it("shows a new file, and one that was emptied", () => {
    assert.equal(toUnifiedDiff("f", "", "a\n"), "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a");
    assert.equal(toUnifiedDiff("f", "a\n", ""), "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a");
  });

  const changes: readonly [name: string, before: string, after: string][] = [
    ["two places far apart", lines(...COUNT), lines("x", ...COUNT.slice(1, 29), "y")],
    [
      "two places near each other",
      lines(...COUNT),
      lines(...COUNT)
        .replace("5\n", "")
        .replace("11\n", "e\n"),
    ],
    [
      "six lines between",
      lines(...COUNT),
      lines(...COUNT)
        .replace("\n5\n", "\nv\n")
        .replace("\n12\n", "\nw\n"),
    ],
    [
      "seven lines between",
      lines(...COUNT),
      lines(...COUNT)
        .replace("\n5\n", "\nv\n")
        .replace("\n13\n", "\nw\n"),
    ],
    ["a last end that goes", "a\nb\n", "a\nb"],
    ["a last end that comes", "a\nb", "a\nb\n"],
    ["lines moved", lines(1, 2, 3, 4, 5), lines(3, 4, 5, 1, 2)],
    ["everything", lines("a", "b"), lines("c", "d", "e")],
    ["lines added at the end", lines(1), lines(1, 2, 3)],
    [
      "too much to compare",
      lines(...Array(2500).keys()),
      lines(...Array(2500).keys()).replaceAll("1", "x"),
    ],
  ];
  const able = unless(programLack("git"));
  for (const [name, before, after] of changes) {
    it(...able(`is what \`git apply\` makes the new text from: ${name}`), () => {
      using folder = createWorkspaceFolder({ f: before });
      const diff = toUnifiedDiff("f", before, after);
      writeFileSync(join(folder.root, "f.diff"), `${diff}\n`);
      // Ignores any repository that contains the temporary folder.
      const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder.root) };
      execFileSync("git", ["apply", "--unidiff-zero", "f.diff"], { cwd: folder.root, env });
      assert.equal(readFileSync(join(folder.root, "f"), "utf8"), after);
    });
  }
});
