import assert from "node:assert/strict";
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { createIds } from "../../../src/base/ids.ts";
import {
  listContainerFiles,
  readContainerBytes,
  writeContainerFile,
} from "../../../src/responses/containers/container-files.ts";
import { createContainerFolder } from "../../../src/responses/containers/container-folder.ts";
import { putContainer } from "../../../src/responses/containers/containers.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import { streamOf } from "../../store/shelf-contract.ts";

const CONTAINER = { tenant: "t", containerId: "cntr_1" };

async function openFolder(t: TestContext) {
  const clock = createManualClock(1_790_000_000_000);
  const parts = { shelf: createMemoryShelf(), clock, makeId: createIds(clock) };
  await putContainer(parts, "t", "cntr_1", { name: "n", minutes: 20, memoryLimit: "1g" });
  const own = await mkdtemp(join(tmpdir(), "offshoot-folder-"));
  t.after(() => rm(own, { recursive: true, force: true }));
  const folder = await createContainerFolder(parts, CONTAINER, own);
  const put = (path: string, text: string) =>
    writeContainerFile(parts, CONTAINER, {
      path,
      source: "user",
      bytes: streamOf(Buffer.from(text)),
      maxBytes: 1000,
    });
  /** The files of the container, by path. */
  const kept = async (): Promise<Record<string, string>> => {
    const files = await listContainerFiles(parts.shelf, CONTAINER);
    const texts = files.map(async (file) => {
      const bytes = await readContainerBytes(parts.shelf, CONTAINER, file);
      return [file.path, bytes.toString()] as const;
    });
    return Object.fromEntries(await Promise.all(texts));
  };
  return { folder, own, put, kept, at: (path: string) => join(folder.path, path) };
}

describe("a container's folder", () => {
  it("has the container's files, and gives back what was changed, made and removed", async (t) => {
    const { folder, put, kept, at } = await openFolder(t);
    await put("a.txt", "one");
    await put("gone.txt", "two");
    await folder.copyIn();
    assert.equal(readFileSync(at("a.txt"), "utf8"), "one");
    writeFileSync(at("a.txt"), "changed");
    mkdirSync(at("d"));
    writeFileSync(at("d/new.txt"), "new");
    rmSync(at("gone.txt"));
    assert.deepEqual(await folder.copyOut(), []);
    assert.deepEqual(await kept(), { "a.txt": "changed", "d/new.txt": "new" });
  });

  it("takes files that were put into the container since, and leaves its own alone", async (t) => {
    const { folder, put, kept, at } = await openFolder(t);
    await put("a.txt", "one");
    await folder.copyIn();
    writeFileSync(at("b.txt"), "mine");
    await folder.copyOut();
    await put("a.txt", "two");
    await folder.copyIn();
    assert.equal(readFileSync(at("a.txt"), "utf8"), "two");
    assert.equal(readFileSync(at("b.txt"), "utf8"), "mine");
    assert.deepEqual(await folder.copyOut(), []);
    assert.deepEqual(await kept(), { "a.txt": "two", "b.txt": "mine" });
  });

  it("follows no link out of it, for reading or writing", async (t) => {
    const { folder, own, put, kept, at } = await openFolder(t);
    const outside = join(own, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "secret"), "of the server");
    await folder.copyIn();
    symlinkSync(join(outside, "secret"), at("link.txt"));
    symlinkSync(outside, at("d"));
    await folder.copyOut();
    assert.deepEqual(await kept(), {});
    await put("link.txt", "new");
    await put("d/secret", "new");
    await folder.copyIn();
    assert.equal(readFileSync(join(outside, "secret"), "utf8"), "of the server");
    assert.ok(lstatSync(at("d")).isDirectory());
    assert.equal(readFileSync(at("d/secret"), "utf8"), "new");
  });
});
