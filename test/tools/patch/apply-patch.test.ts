import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { applyPatchTool } from "../../../src/tools/patch/apply-patch.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("apply_patch", () => {
  it("creates, changes and deletes a file", async () => {
    using folder = createWorkspaceFolder();
    const call = (type: string, diff?: string) =>
      folder.call(applyPatchTool, { type, path: "d/a.txt", ...(diff ? { diff } : {}) });
    assert.equal((await call("create_file", "+one\n")).output, "Created d/a.txt.");
    assert.equal((await call("update_file", "@@\n-one\n+two\n")).output, "Updated d/a.txt.");
    assert.equal(readFileSync(join(folder.root, "d/a.txt"), "utf8"), "two\n");
    assert.equal((await call("delete_file")).output, "Deleted d/a.txt.");
    assert.match((await call("delete_file")).output, /^Error: There is no file/);
  });

  it("changes nothing if the diff does not match, or a file is in the way", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "one\n" });
    const update = { type: "update_file", path: "a.txt", diff: "@@\n-three\n+two\n" };
    const misfit = await folder.call(applyPatchTool, update);
    assert.deepEqual([misfit.failed, /not in the file/.test(misfit.output)], [true, true]);
    const create = { type: "create_file", path: "a.txt", diff: "+two\n" };
    assert.match((await folder.call(applyPatchTool, create)).output, /already: use update_file/);
    assert.equal(readFileSync(join(folder.root, "a.txt"), "utf8"), "one\n");
  });

  it("stays in the workspace", async () => {
    using folder = createWorkspaceFolder();
    for (const path of ["../out.txt", ".git/config", "/etc/passwd"]) {
      const create = { type: "create_file", path, diff: "+x\n" };
      const { failed, decisions } = await folder.call(applyPatchTool, create);
      assert.deepEqual([failed, decisions.at(-1)?.verdict], [true, "deny"], path);
    }
  });

  it("declares what it touches", () => {
    const targets = (type: string) => applyPatchTool.targets?.({ type, path: "a", diff: "" });
    assert.deepEqual(targets("update_file"), { reads: ["a"], writes: ["a"] });
    assert.deepEqual(targets("delete_file"), { writes: ["a"] });
  });
});
