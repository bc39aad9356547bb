import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { writeTool } from "../../../src/tools/files/write.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("write", () => {
  const cases: readonly [
    name: string,
    old: string | undefined,
    content: string,
    lines: number[],
  ][] = [
    ["a new file", undefined, "a\nb\n", [0, 2]],
    ["a file that is there", "1\n2\n3\n", "a", [3, 1]],
    ["an empty file", "1", "", [1, 0]],
  ];
  for (const [name, old, content, [old_lines, new_lines]] of cases) {
    it(`writes ${name}, with the folders above it`, async () => {
      using folder = createWorkspaceFolder(old === undefined ? {} : { "x/y/f": old });
      const { output } = await folder.call(writeTool, { path: "x/y/f", content });
      const is_new_file = old === undefined;
      const expected = { success: true, path: "x/y/f", old_lines, new_lines, is_new_file };
      assert.deepEqual(JSON.parse(output), { ...expected, error: null });
      assert.equal(readFileSync(join(folder.root, "x/y/f"), "utf8"), content);
    });
  }

  it("reports in its own form why nothing was written", async () => {
    using folder = createWorkspaceFolder({ "d/f": "" });
    for (const [path, error] of [
      ["d", "Is a directory: d"],
      ["d/f/g", "File not found: d/f/g"],
    ]) {
      const { output, failed } = await folder.call(writeTool, { path, content: "x" });
      const expected = { success: false, path, old_lines: 0, new_lines: 0, is_new_file: false };
      assert.deepEqual(JSON.parse(output), { ...expected, error });
      assert.ok(failed);
    }
  });

  it("declares what it would touch", () => {
    assert.deepEqual(writeTool.targets?.({ path: "f", content: "" }), { writes: ["f"] });
  });

  it("does not change the configuration of the project", async () => {
    using folder = createWorkspaceFolder();
    const input = { path: ".offshoot/config.yaml", content: "approve: auto" };
    const { output, decisions } = await folder.call(writeTool, input);
    assert.match(output, /^Error: Protected path not allowed \(this project's own configuration\)/);
    assert.equal(decisions.at(-1)?.verdict, "deny");
    assert.ok(!existsSync(join(folder.root, ".offshoot")));
  });
});
