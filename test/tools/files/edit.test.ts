import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { editTool } from "../../../src/tools/files/edit.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("edit", () => {
  const TEXT = "one\ntwo\ntwo more\nthree $1\n";

  it("replaces the one place, and reports where it was", async () => {
    using folder = createWorkspaceFolder({ f: TEXT });
    const input = { path: "f", old_string: "two more\nthree $1", new_string: "$& $1\n2\n3" };
    const { output } = await folder.call(editTool, input);
    assert.deepEqual(JSON.parse(output), {
      success: true,
      path: "f",
      start_line: 3,
      old_line_count: 2,
      new_line_count: 3,
      error: null,
    });
    assert.equal(readFileSync(join(folder.root, "f"), "utf8"), "one\ntwo\n$& $1\n2\n3\n");
  });

  const failures: readonly [name: string, input: object, error: string][] = [
    ["what is not there", { old_string: "four" }, "String not found in f"],
    [
      "what is there twice",
      { old_string: "two" },
      "String found 2 times in f. Provide a more specific string with surrounding context.",
    ],
    [
      "what is there twice, one over the other",
      { path: "over", old_string: "aba" },
      "String found 2 times in over. Provide a more specific string with surrounding context.",
    ],
    ["a file that is not there", { path: "g" }, "File not found: g"],
    ["a file that is not text", { path: "binary" }, "Not a text file: binary"],
    ["what would not survive", { path: "latin" }, "Not a text file: latin"],
    ["a folder", { path: "." }, "Is a directory: ."],
  ];
  for (const [name, input, error] of failures) {
    it(`does not change ${name}, and reports it in its own form`, async () => {
      using folder = createWorkspaceFolder({
        f: TEXT,
        over: "xababax",
        binary: Buffer.from("one\0"),
        latin: Buffer.from("one \xe9", "latin1"),
      });
      const whole = { path: "f", old_string: "one", new_string: "x", ...input };
      const { output, failed } = await folder.call(editTool, whole);
      assert.deepEqual(JSON.parse(output), {
        success: false,
        path: whole.path,
        start_line: 0,
        old_line_count: 0,
        new_line_count: 0,
        error,
      });
      assert.ok(failed);
      assert.equal(readFileSync(join(folder.root, "f"), "utf8"), TEXT);
    });
  }

  it("refuses an empty search text, and a path outside", async () => {
    using folder = createWorkspaceFolder({ f: TEXT });
    for (const [input, message] of [
      [{ path: "f", old_string: "" }, "The arguments of `edit` do not fit: old_string: must not"],
      [{ path: "../f", old_string: "x" }, "Path outside CWD not allowed: ../f"],
    ] as const) {
      const { output, failed } = await folder.call(editTool, { ...input, new_string: "x" });
      assert.ok(output.startsWith(`Error: ${message}`), output);
      assert.ok(failed);
    }
  });

  it("is fast with a text that nearly occurs everywhere", async () => {
    using folder = createWorkspaceFolder({ f: `${"a".repeat(2_000_000)}b` });
    const half = "a".repeat(50_000);
    const input = { path: "f", old_string: `${half}b${half}`, new_string: "" };
    assert.match((await folder.call(editTool, input)).output, /String not found in f/);
  });

  it("keeps a byte order mark and line ends", async () => {
    using folder = createWorkspaceFolder({ f: "\ufeffa\r\nb\r\n" });
    await folder.call(editTool, { path: "f", old_string: "b", new_string: "c" });
    assert.equal(readFileSync(join(folder.root, "f"), "utf8"), "\ufeffa\r\nc\r\n");
  });
});
