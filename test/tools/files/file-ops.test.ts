import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileOpsTool } from "../../../src/tools/files/file-ops.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

const PROJECT = { "a.txt": "one\ntwo\n", "d/b.txt": "b", empty: "", over: "ababa" };

describe("file_ops", () => {
  const cases: readonly [input: object, output: string][] = [
    [{ path: "a.txt" }, "one\ntwo\n"],
    [{ operation: "read", path: "empty" }, "(empty file)"],
    [{ operation: "read", path: "none" }, "Error: File not found: none"],
    [{ operation: "list", path: "." }, "a.txt\nd/\nempty\nover"],
    [
      { operation: "write", path: "a.txt", content: "one\n2\n" },
      "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2",
    ],
    [
      { operation: "write", path: "new/x", content: "x\n" },
      "--- a/new/x\n+++ b/new/x\n@@ -0,0 +1 @@\n+x",
    ],
    [{ operation: "write", path: "a.txt", content: "one\ntwo\n" }, "Nothing changed in a.txt"],
    [{ operation: "create", path: "new", content: "" }, "Created new"],
    [
      { operation: "create", path: "a.txt", content: "" },
      "Error: There is something already: a.txt",
    ],
    [{ operation: "overwrite", path: "none", content: "" }, "Error: File not found: none"],
    [
      { operation: "append", path: "a.txt", content: "three\n" },
      "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n two\n+three",
    ],
    [
      { operation: "edit", path: "a.txt", old_text: "two", new_text: "2" },
      "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2",
    ],
    [
      { operation: "edit", path: "a.txt", old_text: "none", new_text: "" },
      "Error: String not found in a.txt",
    ],
    [
      { operation: "edit", path: "over", old_text: "aba", new_text: "" },
      "Error: String found 2 times in over. Provide a more specific string with surrounding context.",
    ],
    [
      { operation: "edit", path: "a.txt", old_text: "" },
      "Error: The operation `edit` needs new_text.",
    ],
    [{ operation: "create_directory", path: "x/y" }, "Created x/y"],
    [{ operation: "copy", path: "a.txt", to: "x/c.txt" }, "Copied a.txt to x/c.txt"],
    [{ operation: "copy", path: "a.txt", to: "empty" }, "Error: There is something already: empty"],
    [{ operation: "move", path: "d", to: "e" }, "Moved d to e"],
    [{ operation: "move", path: "d" }, "Error: The operation `move` needs to."],
    [{ operation: "delete", path: "a.txt" }, "Deleted a.txt"],
    [
      { operation: "delete", path: "d" },
      "Error: File cannot be changed (the folder is not empty): d",
    ],
    [{ operation: "delete", path: "none" }, "Error: File not found: none"],
  ];
  for (const [input, output] of cases) {
    it(`answers ${JSON.stringify(input)}`, async () => {
      using folder = createWorkspaceFolder(PROJECT);
      assert.equal((await folder.call(fileOpsTool, input)).output, output);
    });
  }

  it("does what its result says", async () => {
    using folder = createWorkspaceFolder(PROJECT);
    for (const input of [
      { operation: "copy", path: "a.txt", to: "x/c.txt" },
      { operation: "append", path: "x/c.txt", content: "more" },
      { operation: "move", path: "d", to: "e" },
      { operation: "delete", path: "a.txt" },
    ]) {
      await folder.call(fileOpsTool, input);
    }
    assert.equal(readFileSync(join(folder.root, "x/c.txt"), "utf8"), "one\ntwo\nmore");
    assert.ok(existsSync(join(folder.root, "e/b.txt")));
    assert.ok(!existsSync(join(folder.root, "a.txt")));
  });

  it("declares by the operation whether it reads or changes", () => {
    const targets = (input: object) =>
      fileOpsTool.targets?.(fileOpsTool.parse({ path: "p", ...input }));
    assert.deepEqual(targets({}), { reads: ["p"], writes: [] });
    assert.deepEqual(targets({ operation: "copy", to: "q" }), { reads: ["p"], writes: ["q"] });
    assert.deepEqual(targets({ operation: "move", to: "q" }), { writes: ["p", "q"] });
    for (const operation of ["write", "create", "overwrite", "append", "edit", "delete"]) {
      assert.deepEqual(targets({ operation, to: "q" }), { writes: ["p"] });
    }
  });
});
