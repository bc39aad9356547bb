import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { type FileBuffers, overBuffers } from "../../../src/tools/workspace/buffered-workspace.ts";
import { openWorkspace } from "../../../src/tools/workspace/open-workspace.ts";
import type { Boundary, Workspace } from "../../../src/tools/workspace/workspace.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

const ALL: Boundary = { mayRead: () => true, mayWrite: () => true, hardLinks: false };

interface Buffered {
  readonly root: string;
  readonly files: Workspace;
  readonly open: Map<string, string>;
}

async function start(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  { boundary = ALL, write = true }: { boundary?: Boundary; write?: boolean } = {},
): Promise<Buffered> {
  const folder = createWorkspaceFolder(files);
  t.after(() => folder[Symbol.dispose]());
  const open = new Map<string, string>();
  const buffers: FileBuffers = {
    read: async (path) => open.get(path),
    async write(path, text) {
      if (write) open.set(path, text);
      return write;
    },
  };
  const disk = await openWorkspace(folder.root, boundary);
  return { root: disk.root, files: overBuffers(disk, buffers), open };
}

const read = async (files: Workspace, path: string, most = 1000): Promise<string> =>
  (await files.readFile(path, most)).toString();

describe("a workspace under an editor", () => {
  it("reads the editor's text, or otherwise the disk", async (t) => {
    const { files, open, root } = await start(t, { "a.txt": "disk", "b.txt": "disk" });
    open.set(join(root, "a.txt"), "buffer");
    open.set(join(root, "new.txt"), "new");
    assert.equal(await read(files, "a.txt"), "buffer");
    assert.equal(await read(files, "b.txt"), "disk");
    assert.equal(await read(files, "new.txt"), "new");
    await assert.rejects(read(files, "none.txt"), { code: "not_found" });
  });

  it("reads files that are not text from disk, and none that is too long", async (t) => {
    const { files, open, root } = await start(t, { "a.bin": "x", "a.txt": "short" });
    await files.writeFile("a.bin", Buffer.from([0xff, 0xfe, 0]));
    open.set(join(root, "a.bin"), "buffer");
    open.set(join(root, "a.txt"), "x".repeat(2000));
    assert.deepEqual(await files.readFile("a.bin", 10), Buffer.from([0xff, 0xfe, 0]));
    await assert.rejects(read(files, "a.txt"), /2000 bytes in the editor/);
  });

  it("writes text into the editor with the folders above it, and everything else to disk", async (t) => {
    const { files, open, root } = await start(t, { "a.txt": "disk" });
    await files.writeFile("a.txt", "one");
    await files.writeFile("deep/er/b.txt", Buffer.from("two"));
    assert.equal(open.get(join(root, "a.txt")), "one");
    assert.equal(open.get(join(root, "deep/er/b.txt")), "two");
    assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "disk");
    assert.deepEqual(await files.list("deep"), ["er/"]);
    const plain = await start(t, {}, { write: false });
    await plain.files.writeFile("a.txt", "one");
    assert.equal(readFileSync(join(plain.root, "a.txt"), "utf8"), "one");
  });

  it("does not ask the editor for what the workspace refuses", async (t) => {
    const boundary = {
      ...ALL,
      mayRead: (path: string) => path !== "secret.txt",
      mayWrite: () => false,
    };
    const { files, open, root } = await start(t, { "secret.txt": "x" }, { boundary });
    open.set(join(root, "secret.txt"), "the secret");
    open.set(join(root, "../outside.txt"), "the secret");
    for (const path of ["secret.txt", "../outside.txt", join(root, "../outside.txt")]) {
      await assert.rejects(read(files, path), { code: "forbidden" }, path);
      await assert.rejects(files.writeFile(path, "y"), { code: "forbidden" }, path);
    }
    assert.equal(open.get(join(root, "secret.txt")), "the secret");
  });
});
