import assert from "node:assert/strict";
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { HoldWay } from "../../../src/tools/workspace/hold.ts";
import { openWorkspace } from "../../../src/tools/workspace/open-workspace.ts";
import type { Boundary } from "../../../src/tools/workspace/workspace.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

const OPEN: Boundary = { mayRead: () => true, mayWrite: () => true, hardLinks: false };
const WAYS: readonly HoldWay[] = process.platform === "linux" ? ["descriptor", "path"] : ["path"];

for (const hold of WAYS) {
  describe(`workspace, held by ${hold}: paths outside the boundary`, () => {
    const boundary: Boundary = {
      mayRead: (path) => !path.startsWith("hidden"),
      mayWrite: (path) => path.startsWith("src/"),
      hardLinks: false,
    };

    it("are refused by their target, existing or not", async () => {
      using folder = createWorkspaceFolder({ "hidden/a": "a", "src/b": "b" });
      symlinkSync("hidden/a", join(folder.root, "link"));
      const workspace = await openWorkspace(folder.root, boundary, { hold });
      for (const path of ["hidden/a", "hidden/none", "link", "src/../hidden/a"]) {
        const message = `Path not allowed for this run to read: ${path}`;
        await assert.rejects(workspace.readFile(path, 9), { code: "forbidden", message });
      }
      for (const path of ["a", "hidden/a", "link"]) {
        const message = `Path not allowed for this run to write: ${path}`;
        await assert.rejects(workspace.writeFile(path, ""), { code: "forbidden", message });
        await assert.rejects(workspace.remove(path), { code: "forbidden", message });
      }
      assert.equal(readFileSync(join(folder.root, "hidden/a"), "utf8"), "a");
    });

    it("folders outside of the run's boundary are not listed", async () => {
      using folder = createWorkspaceFolder({ "hidden/a": "", "src/b": "", ".git/c": "" });
      const workspace = await openWorkspace(folder.root, boundary, { hold });
      assert.deepEqual(await workspace.list("."), ["src/"]);
      assert.deepEqual(await workspace.list("hidden"), []);
      assert.equal(workspace.shows("hidden/a"), false);
      assert.equal(workspace.shows(".git/c"), false);
      assert.equal(workspace.shows("src/b"), true);
    });

    it("do not move with the folder above them", async () => {
      using folder = createWorkspaceFolder({ "src/a/hidden": "", "src/b/.git/config": "" });
      const strict = { ...boundary, mayRead: (path: string) => !path.endsWith("hidden") };
      const workspace = await openWorkspace(folder.root, strict, { hold });
      for (const from of ["src/a", "src/b"]) {
        await assert.rejects(workspace.move(from, "src/c"), { code: "forbidden" });
      }
      assert.deepEqual(readdirSync(join(folder.root, "src")), ["a", "b"]);
    });

    it("do not become readable by moving", async () => {
      using folder = createWorkspaceFolder({ "src/hidden": "x", "src/a/b": "" });
      const strict = { ...boundary, mayRead: (path: string) => !path.endsWith("hidden") };
      const workspace = await openWorkspace(folder.root, strict, { hold });
      const message = "Path not allowed for this run to read: src/hidden";
      await assert.rejects(workspace.move("src/hidden", "src/c"), { code: "forbidden", message });
      await workspace.move("src/a/b", "src/hidden-no-more");
      assert.deepEqual(readdirSync(join(folder.root, "src")), ["a", "hidden", "hidden-no-more"]);
    });
  });

  describe(`workspace, held by ${hold}: files that need approval by name`, () => {
    const boundary: Boundary = { ...OPEN, mayList: (path) => !/(?:^|\/)asked(?:\/|$)/.test(path) };

    it("are in no listing, although they can be read by name", async () => {
      using folder = createWorkspaceFolder({ "src/asked": "a", "src/b": "", "asked/c": "" });
      const workspace = await openWorkspace(folder.root, boundary, { hold });
      assert.deepEqual(await workspace.list("."), ["src/"]);
      assert.deepEqual(await workspace.list("src"), ["b"]);
      assert.equal(workspace.shows("src/asked"), false);
      assert.equal(String(await workspace.readFile("src/asked", 9)), "a");
    });

    it("move by name, and not with a folder above them, from there or to there", async () => {
      using folder = createWorkspaceFolder({ "src/asked": "a", "lib/d/b": "" });
      const workspace = await openWorkspace(folder.root, boundary, { hold });
      await assert.rejects(workspace.move("src", "c"), { code: "forbidden" });
      await assert.rejects(workspace.move("lib", "asked"), { code: "forbidden" });
      await workspace.move("src/asked", "b");
      assert.deepEqual(readdirSync(folder.root), ["b", "lib", "src"]);
    });
  });

  describe(`workspace, held by ${hold}: the program's own files`, () => {
    const PATHS = ["own", "own/x", "OWN/x", "own/none/y", "later/x", "link/x"];

    it("are refused wherever they are, existing or not, through links or not", async () => {
      using folder = createWorkspaceFolder({
        "own/x": "x",
        "a/b": "",
        "real/x": "x",
        ownother: "",
      });
      const { root } = folder;
      symlinkSync("real", join(root, "link"));
      const protectedPaths = ["own", "later", "link"].map((name) => join(root, name));
      const workspace = await openWorkspace(root, { ...OPEN, protectedPaths }, { hold });
      for (const path of [...PATHS, "real/x", join(root, "own/x"), "a/../own/x"]) {
        const refusal = {
          code: "forbidden",
          message: /^Protected path not allowed \(this program/,
        };
        await assert.rejects(workspace.locate(path, "read"), refusal, path);
        await assert.rejects(workspace.writeFile(path, ""), refusal, path);
        await assert.rejects(workspace.remove(path), refusal, path);
      }
      await assert.rejects(workspace.move("a", "later"), { code: "forbidden" });
      assert.deepEqual(await workspace.list("."), ["a/", "ownother"]);
      assert.equal(workspace.shows("own/x"), false);
      assert.deepEqual(readdirSync(join(root, "own")), ["x"]);
    });

    it("do not move with a folder above them", async () => {
      using folder = createWorkspaceFolder({ "a/own/x": "x" });
      const protectedPaths = [join(folder.root, "a/own")];
      const workspace = await openWorkspace(folder.root, { ...OPEN, protectedPaths }, { hold });
      await assert.rejects(workspace.move("a", "b"), { code: "forbidden" });
    });

    it("cannot be a workspace themselves, and do not hinder others", async () => {
      using folder = createWorkspaceFolder({ "own/x": "x" });
      const { root } = folder;
      const inside = await openWorkspace(
        join(root, "own"),
        { ...OPEN, protectedPaths: [root] },
        { hold },
      );
      for (const path of [".", "x"]) {
        await assert.rejects(inside.locate(path, "read"), { code: "forbidden" });
      }
      const beside = { ...OPEN, protectedPaths: [`${root}/ow`, `${root}/own/x/y`, "/none"] };
      const workspace = await openWorkspace(join(root, "own"), beside, { hold });
      assert.deepEqual(await workspace.list("."), ["x"]);
    });
  });
}
