import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { resolveInside } from "../../src/tools/workspace.ts";
import { createWorkspaceFolder } from "./workspace-folder.ts";

const outside = (path: string) => ({
  code: "invalid_request",
  message: `Path outside CWD not allowed: ${path}`,
});

describe("resolveInside", () => {
  it("gives the real path of what lies inside", async () => {
    using folder = createWorkspaceFolder({ "a/b.txt": "b", "..c/d": "d" });
    const { root } = folder;
    for (const [path, real] of [
      ["a/b.txt", "a/b.txt"],
      ["./a/../a/b.txt", "a/b.txt"],
      [join(root, "a/b.txt"), "a/b.txt"],
      ["..c/d", "..c/d"],
      [`../root/a/b.txt`, "a/b.txt"],
    ] as const) {
      assert.equal(await resolveInside(root, path), join(root, real), path);
    }
    for (const path of [".", "", root, "a/.."]) {
      assert.equal(await resolveInside(root, path), root, path);
    }
  });

  it("refuses what lies outside, whether it is there or not", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "" });
    const { root } = folder;
    const neighbour = `${root}-neighbour`;
    mkdirSync(neighbour);
    for (const path of [
      "..",
      "../root-neighbour",
      "a/../../x",
      "/",
      "/etc/passwd",
      "/no/such/file",
      neighbour,
      dirname(root),
    ]) {
      await assert.rejects(resolveInside(root, path), outside(path));
    }
  });

  it("refuses a link that leads out, as a file, a folder and a part of the way", async () => {
    using folder = createWorkspaceFolder();
    const { root } = folder;
    const secret = join(dirname(root), "secret");
    mkdirSync(secret);
    writeFileSync(join(secret, "key"), "k");
    symlinkSync(secret, join(root, "folder"));
    symlinkSync(join(secret, "key"), join(root, "file"));
    symlinkSync("../secret/key", join(root, "relative"));
    symlinkSync("folder", join(root, "twice"));
    for (const path of ["folder", "file", "relative", "folder/key", "twice/key"]) {
      await assert.rejects(resolveInside(root, path), outside(path));
    }
  });

  it("follows a link that stays inside", async () => {
    using folder = createWorkspaceFolder({ "a/b.txt": "b" });
    symlinkSync("a", join(folder.root, "link"));
    assert.equal(await resolveInside(folder.root, "link/b.txt"), join(folder.root, "a/b.txt"));
  });

  it("takes a workspace that is itself a link", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "a" });
    const link = join(dirname(folder.root), "link");
    symlinkSync(folder.root, link);
    assert.equal(await resolveInside(link, "a.txt"), join(folder.root, "a.txt"));
    await assert.rejects(resolveInside(link, "../x"), outside("../x"));
  });

  it("takes an absolute path below a workspace that is itself a link", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "a" });
    const link = join(dirname(folder.root), "link");
    symlinkSync(folder.root, link);
    assert.equal(await resolveInside(link, join(link, "a.txt")), join(folder.root, "a.txt"));
  });

  it("says that something is not there, in the words the model is told", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "" });
    symlinkSync("nowhere", join(folder.root, "dangling"));
    for (const path of ["none.txt", "a.txt/b", "none/b", "dangling"]) {
      await assert.rejects(resolveInside(folder.root, path), {
        code: "not_found",
        message: `File not found: ${path}`,
      });
    }
  });

  it("refuses a NUL character", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "" });
    await assert.rejects(resolveInside(folder.root, "a.txt\0.png"), { code: "invalid_request" });
  });

  it("does not follow a link to itself", async () => {
    using folder = createWorkspaceFolder();
    symlinkSync("loop", join(folder.root, "loop"));
    await assert.rejects(resolveInside(folder.root, "loop"), {
      code: "tool_failed",
      message: "loop: ELOOP",
    });
  });
});
