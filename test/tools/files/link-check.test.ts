import assert from "node:assert/strict";
import { linkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createLinkCheck } from "../../../src/tools/files/ripgrep/search-files.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("createLinkCheck", () => {
  it("checks every file that may be shown, however many there were", () => {
    using folder = createWorkspaceFolder({ a: "", b: "" });
    linkSync(join(folder.root, "b"), join(folder.root, "c"));
    const isShared = createLinkCheck(folder.root, 3);
    assert.deepEqual([isShared("a", "counted"), isShared("b", "counted")], [false, true]);
    for (let at = 0; at < 5; at++) assert.equal(isShared("c", "kept"), true);
    assert.equal(isShared("c", "counted"), false);
    assert.equal(isShared("none", "kept"), false);
  });
});
