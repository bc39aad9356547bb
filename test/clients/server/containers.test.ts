/** Containers over HTTP, with the official client. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import OpenAI, { toFile } from "openai";
import { createIds } from "../../../src/base/ids.ts";
import { writeContainerFile } from "../../../src/responses/containers/container-files.ts";
import { createFile } from "../../../src/responses/files/files.ts";
import { parseNewFile } from "../../../src/responses/files/new-file.ts";
import { createContainerRoutes } from "../../../src/server/routes/containers.ts";
import { createFileRoutes } from "../../../src/server/routes/files.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { script } from "../../../src/testing/index.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import { checkPublished } from "../../conformance/check.ts";
import { PATIENCE_MS } from "../../patience.ts";
import { startServer } from "../../server/server-fixture.ts";
import { streamOf } from "../../store/shelf-contract.ts";

const LIMITS = { maxBytes: 1000, idleMs: PATIENCE_MS };

async function startContainers(t: TestContext) {
  const clock = createManualClock(1_790_000_000_000);
  const parts = { shelf: createMemoryShelf(), clock, makeId: createIds(clock), limits: LIMITS };
  const server = {
    routes: [
      ...createContainerRoutes(parts),
      ...createFileRoutes({ ...parts, sealKey: new Uint8Array(32), forget: async () => {} }),
    ],
  };
  const start = async (tenant: string) => {
    const { url } = await startServer(t, script(), { server, caller: { tenant } });
    return new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
  };
  return { parts, client: await start("t"), stranger: await start("other") };
}

describe("containers over HTTP", () => {
  it("are created, listed, shown and deleted", async (t) => {
    const { client, stranger } = await startContainers(t);
    const made = await client.containers.create({ name: "mine", memory_limit: "1g" });
    checkPublished("ContainerResource", made);
    assert.deepEqual(await client.containers.retrieve(made.id), made);
    const listed = await client.containers.list({ name: "mine" });
    assert.deepEqual(listed.data, [made]);
    assert.deepEqual((await stranger.containers.list()).data, []);
    for (const ask of [
      () => stranger.containers.retrieve(made.id),
      () => stranger.containers.delete(made.id),
      () => stranger.containers.files.list(made.id),
    ]) {
      await assert.rejects(ask, { status: 404 });
    }
    await client.containers.delete(made.id);
    await assert.rejects(client.containers.retrieve(made.id), { status: 404 });
    await assert.rejects(client.containers.create({ name: "" }), { status: 400, param: "name" });
  });

  it("accept uploaded files, show and return them", async (t) => {
    const { client, stranger } = await startContainers(t);
    const { id } = await client.containers.create({ name: "mine" });
    const file = await toFile(Buffer.from("a,b\n"), "../data.csv");
    const made = await client.containers.files.create(id, { file });
    checkPublished("ContainerFileResource", made);
    assert.deepEqual([made.path, made.bytes, made.source], ["/mnt/data/data.csv", 4, "user"]);
    const { data } = await client.containers.files.list(id);
    assert.deepEqual(data, [made]);
    const place = { container_id: id };
    assert.deepEqual(await client.containers.files.retrieve(made.id, place), made);
    const content = await client.containers.files.content.retrieve(made.id, place);
    assert.equal(await content.text(), "a,b\n");
    assert.match(content.headers.get("content-disposition") ?? "", /^attachment; .*data\.csv$/);
    await assert.rejects(stranger.containers.files.content.retrieve(made.id, place), {
      status: 404,
    });
    await client.containers.files.delete(made.id, place);
    assert.deepEqual((await client.containers.files.list(id)).data, []);
  });

  it("copy the tenant's files, and no other tenant's", async (t) => {
    const { client, parts } = await startContainers(t);
    const asked = parseNewFile("note.md", { purpose: "user_data" });
    const send = (tenant: string) =>
      createFile(parts, tenant, asked, { bytes: streamOf(Buffer.from("Hi")), maxBytes: 10 });
    const own = await send("t");
    const theirs = await send("other");
    const { id } = await client.containers.create({ name: "mine" });
    const post = (file_id: string) => client.containers.files.create(id, { file_id });
    assert.equal((await post(own.id)).path, "/mnt/data/note.md");
    await assert.rejects(post(theirs.id), { status: 404 });
    await assert.rejects(client.containers.create({ name: "n", file_ids: [theirs.id] }), {
      status: 404,
    });
  });

  it("have files that are read and deleted by their ids alone, as `file_path` names them", async (t) => {
    const { client, stranger, parts } = await startContainers(t);
    const { id } = await client.containers.create({ name: "mine" });
    const write = (path: string) =>
      writeContainerFile(
        parts,
        { tenant: "t", containerId: id },
        {
          path,
          source: "assistant",
          bytes: streamOf(Buffer.from("a,b\n")),
          maxBytes: 10,
        },
      );
    const made = await write("out/table \ud800.csv");
    const shown = await client.files.retrieve(made.id);
    checkPublished("OpenAIFile", shown);
    assert.deepEqual(
      [shown.filename, shown.bytes, shown.purpose],
      ["table \ud800.csv", 4, "assistants_output"],
    );
    const content = await client.files.content(made.id);
    assert.equal(await content.text(), "a,b\n");
    assert.match(content.headers.get("content-disposition") ?? "", /^attachment; /);
    for (const ask of [
      () => stranger.files.retrieve(made.id),
      () => stranger.files.content(made.id),
      () => stranger.files.delete(made.id),
    ]) {
      await assert.rejects(ask, { status: 404 });
    }
    assert.deepEqual((await client.files.list()).data, []);
    assert.equal((await client.files.delete(made.id)).deleted, true);
    await assert.rejects(client.files.retrieve(made.id), { status: 404 });
    const again = await write("again.csv");
    await parts.clock.advance(21 * 60 * 1000);
    await assert.rejects(client.files.content(again.id), { status: 404 });
  });

  it("refuse a file that is too large", async (t) => {
    const { client } = await startContainers(t);
    const { id } = await client.containers.create({ name: "mine" });
    const file = await toFile(Buffer.alloc(2000), "big.bin");
    await assert.rejects(client.containers.files.create(id, { file }), { param: "file" });
    assert.deepEqual((await client.containers.files.list(id)).data, []);
  });
});
