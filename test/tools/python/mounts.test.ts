import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readMounts } from "../../../src/tools/python/mounts.ts";
import { createWorkspaceFolder, toContext } from "../workspace-folder.ts";

const FILES = {
  "a.txt": "a",
  "conf/.env": "KEY=1",
  "conf/.env.example": "KEY=",
  "conf/id_rsa": "PRIVATE",
  "conf/deep/server.pem": "PRIVATE",
  "conf/deep/b.csv": "1,2",
  ".git/config": "[core]",
};

describe("the files that are copied into Python", () => {
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["conf"], ["conf/.env.example", "conf/deep/b.csv"]],
    [["."], ["a.txt", "conf/.env.example", "conf/deep/b.csv"]],
    [["./conf/deep/"], ["conf/deep/b.csv"]],
    [
      ["conf/.env", "conf/deep"],
      ["conf/.env", "conf/deep/b.csv"],
    ],
  ];
  for (const [paths, expected] of cases) {
    it(`from ${paths.join(" and ")} contain no secret that is not named`, async () => {
      using folder = createWorkspaceFolder(FILES);
      symlinkSync("../.env", join(folder.root, "conf/deep/linked.txt"));
      const { workspace } = await toContext(folder.root);
      const mounts = await readMounts(workspace, paths);
      assert.deepEqual(mounts.map(({ path }) => path).sort(), expected);
    });
  }

  it("have the files' content, and nothing from outside the workspace", async () => {
    using folder = createWorkspaceFolder(FILES);
    const { workspace } = await toContext(folder.root);
    const data = Buffer.from("a").toString("base64");
    assert.deepEqual(await readMounts(workspace, ["a.txt"]), [{ path: "a.txt", data }]);
    for (const path of ["../root2", ".git", ".git/config", "none"]) {
      await assert.rejects(readMounts(workspace, [path]), path);
    }
  });
});
