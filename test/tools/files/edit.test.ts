import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { editTool } from "../../../src/tools/files/edit.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("edit", () => {
  const TEXT = "one\ntwo\ntwo more\nthree $1\n";

  it("replaces the one place, and says where it was", async () => {
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

  const refusals: readonly [name: string, input: object, output: string][] = [
    ["what is not there", { old_string: "four" }, "Error: String not found in f"],
    [
      "what is there twice",
      { old_string: "two" },
      "Error: String found 2 times in f. Provide a more specific string with surrounding context.",
    ],
    ["a file that is not there", { path: "g" }, "Error: File not found: g"],
    ["what is no text", { path: "binary" }, "Error: Not a text file: binary"],
    ["what would not survive", { path: "latin" }, "Error: Not a text file: latin"],
    [
      "nothing to look for",
      { old_string: "" },
      "Error: The arguments of `edit` do not fit: old_string: must not be empty.",
    ],
  ];
  for (const [name, input, output] of refusals) {
    it(`refuses ${name}, and changes nothing`, async () => {
      using folder = createWorkspaceFolder({
        f: TEXT,
        binary: Buffer.from("one\0"),
        latin: Buffer.from("one \xe9", "latin1"),
      });
      const result = await folder.call(editTool, {
        path: "f",
        old_string: "one",
        new_string: "x",
        ...input,
      });
      assert.equal(result.output, output);
      assert.equal(readFileSync(join(folder.root, "f"), "utf8"), TEXT);
    });
  }

  it("keeps a byte order mark and line ends", async () => {
    using folder = createWorkspaceFolder({ f: "\ufeffa\r\nb\r\n" });
    await folder.call(editTool, { path: "f", old_string: "b", new_string: "c" });
    assert.equal(readFileSync(join(folder.root, "f"), "utf8"), "\ufeffa\r\nc\r\n");
  });
});
