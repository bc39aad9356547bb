import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { HoldWay } from "../../../src/tools/workspace/hold.ts";
import { type OpenOptions, openWorkspace } from "../../../src/tools/workspace/open-workspace.ts";
import type { Boundary, Workspace } from "../../../src/tools/workspace/workspace.ts";
import { programLack, unless } from "../../needs.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

const OPEN: Boundary = { mayRead: () => true, mayWrite: () => true, hardLinks: false };
const WAYS: readonly HoldWay[] = process.platform === "linux" ? ["descriptor", "path"] : ["path"];

const outside = (path: string) => ({
  code: "forbidden",
  message: `Path outside CWD not allowed: ${path}`,
});

for (const hold of WAYS) {
  const open = (root: string, options: OpenOptions = {}): Promise<Workspace> =>
    openWorkspace(root, OPEN, { hold, ...options });

  describe(`workspace, held by ${hold}: the targets of paths`, () => {
    it("returns the real path of a file inside", async () => {
      using folder = createWorkspaceFolder({ "a/b.txt": "b", "..c/d": "d", "~": "" });
      const { root } = folder;
      const workspace = await open(root);
      for (const [path, relative] of [
        ["a/b.txt", "a/b.txt"],
        ["./a/../a/b.txt", "a/b.txt"],
        [join(root, "a/b.txt"), "a/b.txt"],
        ["..c/d", "..c/d"],
        ["../root/a/b.txt", "a/b.txt"],
        ["a//b.txt/", "a/b.txt"],
        ["./~", "~"],
      ] as const) {
        const place = { path: join(root, relative), relative, exists: true, isFolder: false };
        assert.deepEqual(await workspace.locate(path, "read"), place, path);
      }
      for (const path of [".", "", root, "a/.."]) {
        const place = { path: root, relative: "", exists: true, isFolder: true };
        assert.deepEqual(await workspace.locate(path, "read"), place, path);
      }
    });

    it("refuses paths outside, existing or not", async () => {
      using folder = createWorkspaceFolder({ "a.txt": "" });
      const { root } = folder;
      const neighbour = `${root}-neighbour`;
      mkdirSync(neighbour);
      const workspace = await open(root);
      for (const path of [
        "..",
        "../root-neighbour",
        "a/../../x",
        "/",
        "/etc/passwd",
        "/no/such/file",
        "~",
        "~/x",
        "~root/x",
        neighbour,
        dirname(root),
      ]) {
        await assert.rejects(workspace.locate(path, "read"), outside(path));
        await assert.rejects(workspace.locate(path, "write"), outside(path));
      }
    });

    it("does not reveal whether a path below a link out of it exists", async () => {
      using folder = createWorkspaceFolder();
      const { root } = folder;
      mkdirSync(join(dirname(root), "secret"));
      writeFileSync(join(dirname(root), "secret/key"), "k");
      symlinkSync("../secret", join(root, "out"));
      symlinkSync("../nowhere", join(root, "dangling"));
      symlinkSync("out", join(root, "twice"));
      const workspace = await open(root);
      for (const path of ["out", "out/key", "out/none", "dangling", "twice/key", "twice/none/x"]) {
        await assert.rejects(workspace.locate(path, "read"), outside(path));
        await assert.rejects(workspace.writeFile(path, "x"), outside(path));
      }
      assert.deepEqual(readdirSync(join(dirname(root), "secret")), ["key"]);
    });

    it("follows a link that stays inside, relative or absolute", async () => {
      using folder = createWorkspaceFolder({ "a/b.txt": "b" });
      symlinkSync("a", join(folder.root, "link"));
      symlinkSync(join(folder.root, "link"), join(folder.root, "whole"));
      symlinkSync("../a/../a/b.txt", join(folder.root, "a/back"));
      const workspace = await open(folder.root);
      for (const path of ["link/b.txt", "whole/b.txt", "whole/back"]) {
        assert.equal((await workspace.locate(path, "read")).relative, "a/b.txt");
        assert.equal(String(await workspace.readFile(path, 9)), "b");
      }
    });

    it("accepts a workspace that is itself a link, by both of its names", async () => {
      using folder = createWorkspaceFolder({ "a.txt": "a" });
      const link = join(dirname(folder.root), "link");
      symlinkSync(folder.root, link);
      const workspace = await open(link);
      assert.equal(workspace.root, folder.root);
      for (const path of ["a.txt", join(link, "a.txt"), join(folder.root, "a.txt")]) {
        assert.equal((await workspace.locate(path, "read")).path, join(folder.root, "a.txt"));
      }
      await assert.rejects(workspace.locate("../x", "read"), outside("../x"));
    });

    it("reports a missing file in the words for the model", async () => {
      using folder = createWorkspaceFolder({ "a.txt": "" });
      symlinkSync("nowhere", join(folder.root, "dangling"));
      const workspace = await open(folder.root);
      for (const path of ["none.txt", "a.txt/b", "none/b", "dangling"]) {
        const expected = { code: "not_found", message: `File not found: ${path}` };
        await assert.rejects(workspace.locate(path, "read"), expected);
        await assert.rejects(workspace.readFile(path, 9), expected);
      }
    });

    it("a workspace refuses invalid paths", async () => {
      using folder = createWorkspaceFolder({ "a.txt": "" });
      symlinkSync("loop", join(folder.root, "loop"));
      const workspace = await open(folder.root);
      for (const path of ["a.txt\0.png", "x".repeat(256), "x/".repeat(2500), "loop"]) {
        await assert.rejects(workspace.locate(path, "read"), { code: "invalid_request" });
        await assert.rejects(workspace.writeFile(path, ""), { code: "invalid_request" });
      }
    });
  });

  describe(`workspace, held by ${hold}: files`, () => {
    const able = unless(programLack("mkfifo"));
    it(...able("refuses a file that is not regular, without waiting for it"), async () => {
      using folder = createWorkspaceFolder();
      execFileSync("mkfifo", [join(folder.root, "pipe")]);
      const workspace = await open(folder.root);
      const message = "Not a regular file: pipe";
      await assert.rejects(workspace.readFile("pipe", 9), { code: "invalid_request", message });
      await assert.rejects(workspace.writeFile("pipe", ""), { code: "invalid_request", message });
      await assert.rejects(workspace.readFile(".", 9), { message: "Is a directory: ." });
      await assert.rejects(workspace.writeFile(".", ""), { message: "Is a directory: ." });
    });

    it("reads up to a limit, and reports the size of a larger file", async () => {
      using folder = createWorkspaceFolder({ f: "12345" });
      const workspace = await open(folder.root);
      assert.equal(String(await workspace.readFile("f", 5)), "12345");
      await assert.rejects(workspace.readFile("f", 4), {
        code: "invalid_request",
        message: "File too large (5 bytes): f",
      });
    });

    it("refuses a file with a second name, unless configured otherwise", async () => {
      using folder = createWorkspaceFolder();
      const secret = join(dirname(folder.root), "secret");
      writeFileSync(secret, "s");
      linkSync(secret, join(folder.root, "f"));
      const workspace = await open(folder.root);
      await assert.rejects(workspace.readFile("f", 9), {
        code: "forbidden",
        message: /hard_links/,
      });
      const free = await openWorkspace(folder.root, { ...OPEN, hardLinks: true }, { hold });
      assert.equal(String(await free.readFile("f", 9)), "s");
      // A new file in its place: the other name keeps the old one.
      await workspace.writeFile("f", "new");
      assert.equal(readFileSync(secret, "utf8"), "s");
    });

    it("writes a whole file, with the folders above it", async () => {
      using folder = createWorkspaceFolder();
      const workspace = await open(folder.root);
      await workspace.writeFile("a/b/c.txt", "one");
      await workspace.writeFile("a/b/c.txt", Buffer.from("two"));
      assert.equal(readFileSync(join(folder.root, "a/b/c.txt"), "utf8"), "two");
      assert.deepEqual(readdirSync(join(folder.root, "a/b")), ["c.txt"]);
    });

    it("keeps a file's mode, and refuses one that is read-only", async () => {
      using folder = createWorkspaceFolder({ run: "old", fixed: "old" });
      chmodSync(join(folder.root, "run"), 0o750);
      chmodSync(join(folder.root, "fixed"), 0o444);
      const workspace = await open(folder.root);
      await workspace.writeFile("run", "new");
      assert.equal(statSync(join(folder.root, "run")).mode & 0o777, 0o750);
      await assert.rejects(workspace.writeFile("fixed", "new"), { code: "tool_failed" });
      assert.equal(readFileSync(join(folder.root, "fixed"), "utf8"), "old");
    });

    it("writes through a link to its target, and removes the link itself", async () => {
      using folder = createWorkspaceFolder({ "a/real": "old" });
      symlinkSync("a/real", join(folder.root, "link"));
      const workspace = await open(folder.root);
      await workspace.writeFile("link", "new");
      assert.equal(readFileSync(join(folder.root, "a/real"), "utf8"), "new");
      await workspace.remove("link");
      assert.deepEqual(readdirSync(folder.root), ["a"]);
    });

    it("creates, lists, moves and removes", async () => {
      using folder = createWorkspaceFolder({ "b.txt": "b", "a/x": "x" });
      const workspace = await open(folder.root);
      await workspace.makeFolder("c/d");
      await workspace.makeFolder("c");
      assert.deepEqual(await workspace.list("."), ["a/", "b.txt", "c/"]);
      await workspace.move("b.txt", "c/d/e.txt");
      await workspace.move("a", "new/place");
      assert.equal(readFileSync(join(folder.root, "c/d/e.txt"), "utf8"), "b");
      assert.equal(readFileSync(join(folder.root, "new/place/x"), "utf8"), "x");
      await assert.rejects(workspace.remove("c"), { message: /not empty/ });
      await workspace.remove("c/d/e.txt");
      await workspace.remove("c/d");
      assert.deepEqual(await workspace.list("c"), []);
    });

    it("does not move over an existing file, into itself, or a missing file", async () => {
      using folder = createWorkspaceFolder({ a: "a", b: "b", "d/x": "" });
      const workspace = await open(folder.root);
      await assert.rejects(workspace.move("a", "b"), { message: "There is something already: b" });
      await assert.rejects(workspace.move("d", "d/e"), { code: "invalid_request" });
      await assert.rejects(workspace.move("none", "c"), { code: "not_found" });
      await assert.rejects(workspace.move(".", "c"), { code: "forbidden" });
      await assert.rejects(workspace.remove("."), { code: "forbidden" });
      assert.equal(readFileSync(join(folder.root, "b"), "utf8"), "b");
    });

    it("reports a path that is not a folder", async () => {
      using folder = createWorkspaceFolder({ a: "" });
      const workspace = await open(folder.root);
      await assert.rejects(workspace.list("a"), { message: "Not a folder: a" });
      await assert.rejects(workspace.makeFolder("a"), { message: "Not a folder: a" });
      await assert.rejects(openWorkspace(join(folder.root, "none"), OPEN), { code: "not_found" });
    });
  });

  describe(`workspace, held by ${hold}: swapped between check and use`, () => {
    /** A folder `in` and a neighbour `out`; the folder, or its file, is replaced by a link to it. */
    async function swapping(
      folder: ReturnType<typeof createWorkspaceFolder>,
      swap: "folder" | "file",
    ): Promise<Workspace> {
      const { root } = folder;
      const secret = join(dirname(root), "out");
      mkdirSync(secret);
      writeFileSync(join(secret, "f"), "secret");
      let isDone = false;
      return open(root, {
        checked() {
          if (isDone) return;
          isDone = true;
          const name = swap === "folder" ? "in" : "in/f";
          renameSync(join(root, name), join(root, "aside"));
          symlinkSync(swap === "folder" ? secret : join(secret, "f"), join(root, name));
        },
      });
    }

    for (const swap of ["folder", "file"] as const) {
      it(`reads nothing outside: a ${swap} that becomes a link`, async () => {
        using folder = createWorkspaceFolder({ "in/f": "mine" });
        const workspace = await swapping(folder, swap);
        await assert.rejects(workspace.readFile("in/f", 99), { code: "forbidden" });
      });
    }

    it("lists nothing outside, by us or by a program", async () => {
      using folder = createWorkspaceFolder({ "in/f": "mine" });
      const workspace = await swapping(folder, "folder");
      await assert.rejects(workspace.list("in"), { code: "forbidden" });
      const again = await open(folder.root);
      await assert.rejects(
        again.within("in", async () => assert.fail("must not start")),
        { code: "forbidden" },
      );
    });

    it("writes nothing outside: a folder that becomes a link", async () => {
      using folder = createWorkspaceFolder({ "in/f": "mine" });
      const workspace = await swapping(folder, "folder");
      await assert.rejects(workspace.writeFile("in/f", "new"), { code: "forbidden" });
      await assert.rejects(workspace.writeFile("in/g/h", "new"), { code: "forbidden" });
      assert.equal(readFileSync(join(dirname(folder.root), "out/f"), "utf8"), "secret");
      assert.deepEqual(readdirSync(join(dirname(folder.root), "out")), ["f"]);
    });

    it("replaces a link that took a file's place, and not its target", async () => {
      using folder = createWorkspaceFolder({ "in/f": "mine" });
      const workspace = await swapping(folder, "file");
      await workspace.writeFile("in/f", "new");
      assert.equal(readFileSync(join(dirname(folder.root), "out/f"), "utf8"), "secret");
      assert.ok(lstatSync(join(folder.root, "in/f")).isFile());
    });

    for (const change of ["remove", "move"] as const) {
      it(`does not ${change} files outside`, async () => {
        using folder = createWorkspaceFolder({ "in/f": "mine" });
        const workspace = await swapping(folder, "folder");
        const done = change === "remove" ? workspace.remove("in/f") : workspace.move("in/f", "g");
        await assert.rejects(done, { code: "forbidden" });
        assert.ok(existsSync(join(dirname(folder.root), "out/f")));
      });
    }
  });
}

describe("folders that are opened at the same moment", () => {
  it("each keep their own boundary", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "a", "b.txt": "b" });
    const only = (name: string): Boundary => ({ ...OPEN, mayRead: (path) => path === name });
    const names = ["a.txt", "b.txt"];
    const [first, second] = await Promise.all(
      names.map((name) => openWorkspace(folder.root, only(name))),
    );
    assert.ok(first && second);
    assert.equal((await first.readFile("a.txt", 10)).toString(), "a");
    assert.equal((await second.readFile("b.txt", 10)).toString(), "b");
    await assert.rejects(first.readFile("b.txt", 10), { code: "forbidden" });
    await assert.rejects(second.readFile("a.txt", 10), { code: "forbidden" });
  });

  it("are looked up again the next time", async () => {
    using folder = createWorkspaceFolder({ "one/a.txt": "1", "two/a.txt": "2" });
    const link = join(folder.root, "link");
    await Promise.all(
      [1, 2].map(() => assert.rejects(openWorkspace(link, OPEN), { code: "not_found" })),
    );
    for (const name of ["one", "two"]) {
      symlinkSync(join(folder.root, name), `${link}.new`);
      renameSync(`${link}.new`, link);
      const opened = await Promise.all([1, 2].map(() => openWorkspace(link, OPEN)));
      for (const { root } of opened) assert.equal(root, join(folder.root, name));
    }
  });
});
