import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIds } from "../../../src/base/ids.ts";
import {
  copyToContainer,
  deleteContainerFile,
  getContainerFile,
  listContainerFiles,
  pageContainerFiles,
  readContainerBytes,
  readContainerFile,
  toUploadName,
  writeContainerFile,
} from "../../../src/responses/containers/container-files.ts";
import type { ContainerName } from "../../../src/responses/containers/container-name.ts";
import {
  deleteContainer,
  getContainer,
  listContainers,
  putContainer,
  touchContainer,
} from "../../../src/responses/containers/containers.ts";
import { createContainer } from "../../../src/responses/containers/create-container.ts";
import { parseNewContainer } from "../../../src/responses/containers/new-container.ts";
import { createFile } from "../../../src/responses/files/files.ts";
import { parseNewFile } from "../../../src/responses/files/new-file.ts";
import type { ShelfParts } from "../../../src/responses/tenant/shelf-parts.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { openDatabase } from "../../../src/store/sqlite/sqlite-database.ts";
import { createSqliteShelf } from "../../../src/store/sqlite/sqlite-shelf.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/manual-clock.ts";
import { checkPublished } from "../../conformance/check.ts";
import { createGate, until } from "../../engine/engine-fixture.ts";
import { newDatabasePath } from "../../store/database-path.ts";
import { streamOf } from "../../store/shelf-contract.ts";

const MINUTE_MS = 60_000;

const SHELVES = [
  { name: "in memory", openShelf: async () => createMemoryShelf() },
  {
    name: "on SQLite",
    openShelf: async () => createSqliteShelf(await openDatabase(newDatabasePath())),
  },
];

function createParts(): ShelfParts & { clock: ManualClock } {
  const clock = createManualClock(1_790_000_000_999);
  return { shelf: createMemoryShelf(), clock, makeId: createIds(clock) };
}

const make = (parts: ShelfParts, body: object = {}, tenant = "t") =>
  createContainer(parts, tenant, parseNewContainer({ name: "n", ...body }), 100);

const write = (
  parts: ShelfParts,
  container: ContainerName,
  path: string,
  text: string,
): ReturnType<typeof writeContainerFile> =>
  writeContainerFile(parts, container, {
    path,
    source: "user",
    bytes: streamOf(Buffer.from(text)),
    maxBytes: 10,
  });

describe("containers", () => {
  it("are made anew once they have expired, and keep what another call has put there", async () => {
    const parts = createParts();
    const made = { name: "auto", minutes: 20, memoryLimit: "1g" } as const;
    const container = { tenant: "t", containerId: "cntr_1" };
    await putContainer(parts, "t", "cntr_1", made);
    parts.clock.advance(20 * MINUTE_MS);
    const get = parts.shelf.get.bind(parts.shelf);
    parts.shelf.get = async (name) => {
      parts.shelf.get = get;
      const expired = await get(name);
      // Another call of the same response is faster.
      await putContainer(parts, "t", "cntr_1", made);
      await write(parts, container, "a.txt", "text");
      return expired;
    };
    await putContainer(parts, "t", "cntr_1", made);
    assert.equal((await listContainerFiles(parts.shelf, container)).length, 1);
  });

  it("take no file that arrives while they are deleted", async () => {
    const parts = createParts();
    const { id } = await make(parts);
    const container = { tenant: "t", containerId: id };
    const list = parts.shelf.list.bind(parts.shelf);
    parts.shelf.list = async (query) => {
      const files = await list(query);
      await deleteContainer(parts, "t", id);
      return files;
    };
    await assert.rejects(write(parts, container, "a.txt", "text"), { code: "not_found" });
    assert.equal(await parts.shelf.countBytes("t"), 0);
  });

  it("are made, listed, shown and deleted as published", async () => {
    const parts = createParts();
    const made = await make(parts, { name: "a", memory_limit: "4g" });
    checkPublished("ContainerResource", made);
    assert.match(made.id, /^cntr_[a-z0-9]+$/);
    assert.deepEqual(made, {
      id: made.id,
      object: "container",
      name: "a",
      status: "running",
      created_at: 1_790_000_000,
      last_active_at: 1_790_000_000,
      memory_limit: "4g",
      expires_after: { anchor: "last_active_at", minutes: 20 },
      network_policy: { type: "disabled" },
    });
    const other = await make(parts, { name: "b" });
    const page = await listContainers(parts, "t", new URLSearchParams());
    checkPublished("ContainerListResource", page);
    assert.deepEqual(page.data, [other, made]);
    const named = await listContainers(parts, "t", new URLSearchParams("name=a&limit=1"));
    assert.deepEqual([named.data, named.has_more], [[made], false]);
    const deleted = await deleteContainer(parts, "t", made.id);
    assert.deepEqual(deleted, { id: made.id, object: "container.deleted", deleted: true });
    await assert.rejects(getContainer(parts, "t", made.id), { code: "not_found" });
  });

  it("end when they were not used for a while", async () => {
    const parts = createParts();
    const { id } = await make(parts, { expires_after: { anchor: "last_active_at", minutes: 5 } });
    parts.clock.advance(4 * MINUTE_MS);
    assert.equal((await touchContainer(parts, "t", id)).last_active_at, 1_790_000_240);
    parts.clock.advance(4 * MINUTE_MS);
    assert.equal((await getContainer(parts, "t", id)).last_active_at, 1_790_000_240);
    parts.clock.advance(MINUTE_MS);
    await assert.rejects(touchContainer(parts, "t", id), /no container `cntr_.*expired/);
    assert.deepEqual((await listContainers(parts, "t", new URLSearchParams())).data, []);
    const again = { name: "n", minutes: 20, memoryLimit: "1g" } as const;
    await putContainer(parts, "t", id, again);
    assert.equal((await getContainer(parts, "t", id)).created_at, 1_790_000_540);
  });

  it("are refused by the name of the invalid field", async () => {
    const wrong: readonly [object, string][] = [
      [{ name: undefined }, "name"],
      [{ memory_limit: "2g" }, "memory_limit"],
      [{ expires_after: { anchor: "created_at", minutes: 5 } }, "expires_after.anchor"],
      [{ expires_after: { anchor: "last_active_at", minutes: 0 } }, "expires_after.minutes"],
    ];
    for (const [body, param] of wrong) {
      assert.throws(() => parseNewContainer({ name: "n", ...body }), { param });
    }
  });

  it("begin with copies of the tenant's files, or not at all", async () => {
    const parts = createParts();
    const asked = parseNewFile("a.txt", { purpose: "user_data" });
    const content = { bytes: streamOf(Buffer.from("Hello")), maxBytes: 100 };
    const { id: fileId } = await createFile(parts, "t", asked, content);
    const { id: containerId } = await make(parts, { file_ids: [fileId] });
    const container = { tenant: "t", containerId };
    const [file, ...others] = await listContainerFiles(parts.shelf, container);
    assert.ok(file);
    assert.deepEqual([file.path, file.bytes, file.fileId, others], ["a.txt", 5, fileId, []]);
    const copy = await copyToContainer(parts, container, fileId, 100);
    assert.equal(copy.id, file.id);
    await assert.rejects(make(parts, { file_ids: ["file-x"] }), { code: "not_found" });
    await assert.rejects(make(parts, { file_ids: [fileId] }, "other"), { code: "not_found" });
    assert.equal((await listContainers(parts, "t", new URLSearchParams())).data.length, 1);
  });
});

describe("a container's files", () => {
  it("are written, listed, read and deleted as published", async () => {
    const parts = createParts();
    const { id: containerId } = await make(parts);
    const container = { tenant: "t", containerId };
    const made = await write(parts, container, "d/a.txt", "Hello");
    checkPublished("ContainerFileResource", made);
    assert.deepEqual(made, {
      id: made.id,
      object: "container.file",
      container_id: containerId,
      source: "user",
      created_at: 1_790_000_000,
      bytes: 5,
      path: "/mnt/data/d/a.txt",
    });
    const page = await pageContainerFiles(parts.shelf, container, new URLSearchParams());
    checkPublished("ContainerFileListResource", page);
    assert.deepEqual(page.data, [made]);
    const { value } = await (await readContainerFile(parts.shelf, container, made.id)).next();
    assert.equal(Buffer.from(value ?? []).toString(), "Hello");
    const deleted = await deleteContainerFile(parts.shelf, container, made.id);
    assert.deepEqual(deleted, { id: made.id, object: "container.file.deleted", deleted: true });
    await assert.rejects(getContainerFile(parts.shelf, container, made.id), { code: "not_found" });
  });

  it("keep their id and change their version when they are written again", async () => {
    const parts = createParts();
    const { id: containerId } = await make(parts);
    const container = { tenant: "t", containerId };
    const first = await write(parts, container, "./a.txt", "one");
    const [before] = await listContainerFiles(parts.shelf, container);
    const second = await write(parts, container, "a.txt", "three");
    const [after] = await listContainerFiles(parts.shelf, container);
    assert.ok(before && after);
    assert.deepEqual([second.id, second.bytes], [first.id, 5]);
    assert.notEqual(before.version, after.version);
    assert.equal(String(await readContainerBytes(parts.shelf, container, after)), "three");
  });

  it("leave nothing of one that is too large, and go with their container", async () => {
    const parts = createParts();
    const { id: containerId } = await make(parts);
    const container = { tenant: "t", containerId };
    await assert.rejects(write(parts, container, "a", "more than ten"), { param: "file" });
    assert.deepEqual(await listContainerFiles(parts.shelf, container), []);
    const { id } = await write(parts, container, "a", "ten");
    const other = { tenant: "t", containerId: (await make(parts)).id };
    await assert.rejects(getContainerFile(parts.shelf, other, id), { code: "not_found" });
    const stranger = { tenant: "other", containerId };
    await assert.rejects(getContainerFile(parts.shelf, stranger, id), { code: "not_found" });
    await deleteContainer(parts, "t", containerId);
    await assert.rejects(getContainerFile(parts.shelf, container, id), { code: "not_found" });
  });

  for (const { name, openShelf } of SHELVES) {
    it(`are one if two requests write a new path at once, ${name}`, async () => {
      const parts = { ...createParts(), shelf: await openShelf() };
      const container = { tenant: "t", containerId: (await make(parts)).id };
      const gates = [createGate(), createGate()];
      let waiting = 0;
      const writeLate = (text: string, gate: Promise<void>) => {
        async function* bytes(): AsyncGenerator<Uint8Array> {
          waiting++;
          await gate;
          yield Buffer.from(text);
        }
        return writeContainerFile(parts, container, {
          path: "a.txt",
          source: "user",
          bytes: bytes(),
          maxBytes: 10,
        });
      };
      const writing = [
        writeLate("one", gates[0]?.opened ?? assert.fail()),
        writeLate("three", gates[1]?.opened ?? assert.fail()),
      ];
      await until(() => waiting === 2);
      gates[0]?.open();
      const first = await writing[0];
      gates[1]?.open();
      const second = await writing[1];
      const files = await listContainerFiles(parts.shelf, container);
      assert.deepEqual(
        files.map(({ path, bytes }) => [path, bytes]),
        [["a.txt", 5]],
      );
      const [file = assert.fail()] = files;
      assert.deepEqual([first?.id, second?.id], [file.id, file.id]);
      assert.equal(String(await readContainerBytes(parts.shelf, container, file)), "three");
      await deleteContainerFile(parts.shelf, container, file.id);
      const later = await write(parts, container, "a.txt", "later");
      assert.notEqual(later.id, file.id);
      assert.equal((await listContainerFiles(parts.shelf, container)).length, 1);
    });

    it(`are one if a request replaces another's file before that is whole, ${name}`, async () => {
      const parts = { ...createParts(), shelf: await openShelf() };
      const container = { tenant: "t", containerId: (await make(parts)).id };
      const { change } = parts.shelf;
      let isFirst = true;
      // The first request has the path, and its file is not ready yet.
      parts.shelf.change = async (...given) => {
        if (isFirst) {
          isFirst = false;
          await write(parts, container, "a.txt", "three");
        }
        return await change.apply(parts.shelf, given);
      };
      await write(parts, container, "a.txt", "one");
      const files = await listContainerFiles(parts.shelf, container);
      assert.deepEqual(
        files.map(({ bytes }) => bytes),
        [5],
      );
      const [file = assert.fail()] = files;
      assert.equal(String(await readContainerBytes(parts.shelf, container, file)), "three");
    });
  }

  it("stay below their folder, whatever they are called", async () => {
    const parts = createParts();
    const container = { tenant: "t", containerId: (await make(parts)).id };
    for (const path of ["../a", "a/../../b", "", "/", "a\0b"]) {
      await assert.rejects(write(parts, container, path, "x"), { code: "invalid_request" });
    }
    assert.equal(toUploadName("../../etc/passwd"), "passwd");
    assert.equal(toUploadName("C:\\x\\a.txt"), "a.txt");
  });
});
