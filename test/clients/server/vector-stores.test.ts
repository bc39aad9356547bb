import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI, { toFile } from "openai";
import { reply, script } from "../../../src/testing/index.ts";
import { startServer, type TestServer } from "../../server/server-fixture.ts";
import { newDatabasePath } from "../../store/database-path.ts";

function toClient({ url }: TestServer): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
}

const text = (name: string, content: string): ReturnType<typeof toFile> =>
  toFile(Buffer.from(content), name);

const SOON = { pollIntervalMs: 5 };

describe("vector stores over HTTP", () => {
  it("are filled, searched and emptied by the official client", async (t) => {
    const server = await startServer(t, script(reply.text("Hi")), { storePath: newDatabasePath() });
    const client = toClient(server);
    const store = await client.vectorStores.create({ name: "Handbook" });
    const refunds = await client.vectorStores.files.uploadAndPoll(
      store.id,
      await text("refunds.md", "Refunds are paid within thirty days."),
      SOON,
    );
    assert.equal(refunds.status, "completed");
    const batch = await client.vectorStores.fileBatches.uploadAndPoll(
      store.id,
      { files: [await text("a.txt", "Shipping is free."), await text("b.txt", "Call us.")] },
      SOON,
    );
    assert.equal(batch.file_counts.completed, 2);
    const found = await client.vectorStores.search(store.id, { query: "When are refunds paid?" });
    assert.deepEqual(
      found.data.map(({ filename, file_id }) => [filename, file_id]),
      [["refunds.md", refunds.id]],
    );
    const names: string[] = [];
    const list = client.vectorStores.files.list(store.id, { limit: 1, filter: "completed" });
    for await (const file of list) names.push(file.id);
    assert.equal(names.length, 3);
    const labelled = await client.vectorStores.files.update(refunds.id, {
      vector_store_id: store.id,
      attributes: { region: "eu" },
    });
    assert.deepEqual(labelled.attributes, { region: "eu" });
    const content = await client.vectorStores.files.content(refunds.id, {
      vector_store_id: store.id,
    });
    assert.equal(content.data[0]?.text, "Refunds are paid within thirty days.");
    const filters = { type: "eq", key: "region", value: "us" } as const;
    const none = await client.vectorStores.search(store.id, { query: "refunds", filters });
    assert.deepEqual(none.data, []);
    await client.files.delete(refunds.id);
    const after = await client.vectorStores.search(store.id, { query: "refunds" });
    assert.deepEqual(after.data, []);
    assert.equal((await client.vectorStores.retrieve(store.id)).file_counts.total, 2);
    await client.vectorStores.delete(store.id);
    await assert.rejects(client.vectorStores.retrieve(store.id), { status: 404 });
  });

  it("are there after a restart, with their search results", async (t) => {
    const storePath = newDatabasePath();
    const first = await startServer(t, script(reply.text("Hi")), { storePath });
    const store = await toClient(first).vectorStores.create({});
    await toClient(first).vectorStores.files.uploadAndPoll(
      store.id,
      await text("a.txt", "The answer is forty-two."),
      SOON,
    );
    const second = await startServer(t, script(reply.text("Hi")), { storePath });
    const found = await toClient(second).vectorStores.search(store.id, { query: "answer" });
    assert.equal(found.data[0]?.filename, "a.txt");
  });

  it("answer invalid requests with the field at fault", async (t) => {
    const server = await startServer(t, script(reply.text("Hi")));
    const { body } = await server.ask("POST", "/v1/vector_stores", {});
    const { id } = body as { id: string };
    const wrong: readonly [string, string, unknown, number, string][] = [
      ["POST", "/v1/vector_stores/vs_none/search", { query: "x" }, 404, "vector_store_id"],
      ["POST", `/v1/vector_stores/${id}/search`, {}, 400, "query"],
      [
        "POST",
        `/v1/vector_stores/${id}/search`,
        { query: "x", filters: { type: "x" } },
        400,
        "filters.key",
      ],
      ["POST", `/v1/vector_stores/${id}/files`, { file_id: "file-none" }, 404, "file_id"],
      ["GET", `/v1/vector_stores/${id}/files/file-none`, undefined, 404, "file_id"],
      ["GET", `/v1/vector_stores/${id}/file_batches/vsfb_none`, undefined, 404, "batch_id"],
      ["GET", "/v1/vector_stores?limit=0", undefined, 400, "limit"],
    ];
    for (const [method, path, given, status, param] of wrong) {
      const answer = await server.ask(method, path, given);
      const { error } = answer.body as { error: { param: string } };
      assert.deepEqual([path, answer.status, error.param], [path, status, param]);
    }
  });
});
