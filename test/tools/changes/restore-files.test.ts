import assert from "node:assert/strict";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type FileState, NOTHING_THERE } from "../../../src/protocol/file-changes.ts";
import { type FileStates, openFileStates } from "../../../src/tools/changes/file-states.ts";
import { type Restoring, restoreFiles } from "../../../src/tools/changes/restore-files.ts";
import { makeFolder, readFolder } from "../../runtime/undo/folder-state.ts";

/** Four files and a folder, and their target states; `start` and `end` are the folder before and after. */
async function prepare(root: string) {
  writeFileSync(join(root, "changed"), "new");
  writeFileSync(join(root, "made"), "made");
  mkdirSync(join(root, "folder"));
  writeFileSync(join(root, "folder/inner"), "inner");
  const states = await openFileStates(root);
  const look = async (path: string): Promise<FileState> => (await states.look(path, 0)).state;
  const file = await look("changed");
  const of = (text: string) => async () => Buffer.from(text);
  const old = { ...file, ...(await hashOf(states, root, "old")) } as FileState;
  const wanted: Restoring[] = [
    { path: "changed", from: file, to: old, content: of("old"), oldContent: of("new") },
    { path: "made", from: await look("made"), to: NOTHING_THERE, oldContent: of("made") },
    { path: "folder", from: await look("folder"), to: NOTHING_THERE },
    {
      path: "folder/inner",
      from: await look("folder/inner"),
      to: NOTHING_THERE,
      oldContent: of("inner"),
    },
    { path: "gone/deep", from: NOTHING_THERE, to: old, content: of("old") },
    { path: "gone", from: NOTHING_THERE, to: { kind: "folder", mode: 0o755 } },
  ];
  return { states, wanted, start: readFolder(root) };
}

async function hashOf(states: FileStates, root: string, text: string): Promise<object> {
  writeFileSync(join(root, "sample"), text);
  const { state } = await states.look("sample", 0);
  const { unlinkSync } = await import("node:fs");
  unlinkSync(join(root, "sample"));
  return { sha256: state.kind === "file" ? state.sha256 : null, bytes: text.length };
}

const END = ["changed", "gone", "gone/deep"];

/** Stops for ever before the change with this number, like a process that is killed there. */
async function crashAt(
  states: FileStates,
  wanted: readonly Restoring[],
  at: number,
): Promise<boolean> {
  let changes = 0;
  const crashed = new Promise<boolean>((resolve) => {
    const onChange = (): unknown => {
      if (changes++ !== at) return undefined;
      resolve(true);
      return new Promise(() => {});
    };
    void restoreFiles(states, wanted, { tag: "t", isRetry: false, onChange }).then(() =>
      resolve(false),
    );
  });
  return await crashed;
}

describe("restoring files", () => {
  it("finishes after a crash before any of its changes", async () => {
    let crashes = 0;
    for (let at = 0; at < 10; at++) {
      using folder = makeFolder();
      const { states, wanted } = await prepare(folder.root);
      if (await crashAt(states, wanted, at)) crashes++;
      const foreign = await restoreFiles(states, wanted, { tag: "t", isRetry: true });
      assert.deepEqual(foreign, []);
      assert.deepEqual([...readFolder(folder.root).keys()], END);
    }
    assert.equal(crashes, 6);
  });

  it("takes everything back after a crash if a file was changed meanwhile", async () => {
    for (let at = 1; at < 5; at++) {
      using folder = makeFolder();
      const { states, wanted, start } = await prepare(folder.root);
      await crashAt(states, wanted, at);
      writeFileSync(join(folder.root, "changed"), "mine");
      const foreign = await restoreFiles(states, wanted, { tag: "t", isRetry: true });
      assert.deepEqual(foreign, ["changed"]);
      const mine = new Map(readFolder(folder.root));
      mine.set("changed", start.get("changed") ?? "");
      assert.deepEqual(mine, start);
    }
  });

  it("takes everything back if a change fails in the middle", async () => {
    using folder = makeFolder();
    const { states, wanted, start } = await prepare(folder.root);
    let changes = 0;
    const onChange = (): void => {
      if (changes++ === 4) throw new Error("the disk is full");
    };
    const options = { tag: "t", isRetry: false, onChange };
    await assert.rejects(restoreFiles(states, wanted, options), /the disk is full/);
    assert.deepEqual(readFolder(folder.root), start);
  });

  it("follows no link that replaced a folder", async () => {
    using outside = makeFolder();
    using folder = makeFolder();
    const { states } = await prepare(folder.root);
    symlinkSync(outside.root, join(folder.root, "link"));
    const to = { kind: "file", mode: 0o644, bytes: 1, sha256: "0" } as const;
    const wanted = [
      { path: "link/file", from: NOTHING_THERE, to, content: async () => Buffer.from("x") },
    ];
    await assert.rejects(restoreFiles(states, wanted, { tag: "t", isRetry: false }));
    assert.deepEqual(readdirSync(outside.root), []);
  });
});
