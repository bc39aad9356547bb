import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Embedder } from "../../../src/providers/embeddings/embedder.ts";
import { searchStore } from "../../../src/responses/vector-stores/search.ts";
import { createStoreFile, getStoreFile } from "../../../src/responses/vector-stores/store-files.ts";
import { createStore } from "../../../src/responses/vector-stores/stores.ts";
import { checkPublished } from "../../conformance/check.ts";
import { createBench, createWordEmbedder, TENANT, type VectorBench } from "./vector-fixture.ts";

const signal = new AbortController().signal;

const TEXTS: Readonly<Record<string, string>> = {
  "refunds.md": "Refunds are paid within thirty days of the return.",
  "shipping.md": "Orders are shipped in two days. Shipping is free.",
  "pets.md": "Every puppy needs a walk.",
  "garage.md": "An automobile needs oil.",
};

async function createSearched(embedder?: Embedder): Promise<{ bench: VectorBench; store: string }> {
  const bench = await createBench(embedder);
  const { id: store } = await createStore(bench, TENANT, {});
  for (const [at, [name, text]] of Object.entries(TEXTS).entries()) {
    const attributes = { name, number: at };
    const file_id = await bench.upload(name, text);
    await createStoreFile(bench, TENANT, store, { file_id, attributes });
  }
  await bench.engine.idle();
  return { bench, store };
}

async function find(bench: VectorBench, store: string, body: object) {
  const page = await searchStore(bench, TENANT, { store, body }, signal);
  checkPublished("VectorStoreSearchResultsPage", page);
  return page.data;
}

describe("searching a vector store", () => {
  it("finds by words, the best first", async () => {
    const { bench, store } = await createSearched();
    const found = await find(bench, store, { query: "When is a refund paid for a return?" });
    assert.equal(found[0]?.filename, "refunds.md");
    assert.deepEqual(found[0]?.attributes, { name: "refunds.md", number: 0 });
    assert.deepEqual(found[0]?.content, [{ type: "text", text: TEXTS["refunds.md"] }]);
    assert.ok((found[0]?.score ?? 0) > 0.5);
    assert.deepEqual(await find(bench, store, { query: "zebra" }), []);
    assert.deepEqual(await find(bench, store, { query: '"* OR NEAR(' }), []);
  });

  it("takes the best of several questions, at most as many as asked for, none under the threshold", async () => {
    const { bench, store } = await createSearched();
    const query = ["refund", "shipping", "puppy"];
    const names = async (more: object): Promise<string[]> =>
      (await find(bench, store, { query, ...more })).map(({ filename }) => filename);
    assert.deepEqual((await names({})).sort(), ["pets.md", "refunds.md", "shipping.md"]);
    assert.equal((await names({ max_num_results: 2 })).length, 2);
    assert.deepEqual(await names({ ranking_options: { score_threshold: 0.99 } }), []);
    for (const max_num_results of [0, 51, 1.5]) {
      await assert.rejects(names({ max_num_results }), { param: "max_num_results" });
    }
  });

  it("searches only files that match the filters", async () => {
    const { bench, store } = await createSearched();
    const filters = { type: "gt", key: "number", value: 0 };
    const found = await find(bench, store, { query: "days", filters });
    assert.deepEqual(
      found.map(({ filename }) => filename),
      ["shipping.md"],
    );
  });

  it("finds by meaning, too, where there are embeddings", async () => {
    const embedder = createWordEmbedder();
    const { bench, store } = await createSearched(embedder);
    assert.deepEqual([...embedder.asked].sort(), Object.values(TEXTS).sort());
    const [first] = await find(bench, store, { query: "a vehicle" });
    assert.equal(first?.filename, "garage.md");
    assert.equal(first?.score, 0.5);
    const only = { hybrid_search: { embedding_weight: 1, text_weight: 0 } };
    const meant = await find(bench, store, { query: "a vehicle", ranking_options: only });
    assert.deepEqual(
      meant.map(({ filename, score }) => [filename, score]),
      [["garage.md", 1]],
    );
    const words = { hybrid_search: { embedding_weight: 0, text_weight: 1 } };
    assert.deepEqual(await find(bench, store, { query: "a vehicle", ranking_options: words }), []);
    const none = { hybrid_search: { embedding_weight: 0, text_weight: 0 } };
    await assert.rejects(find(bench, store, { query: "x", ranking_options: none }), {
      param: "ranking_options.hybrid_search",
    });
  });

  it("adds both scores up where a chunk fits in words and in meaning", async () => {
    const { bench, store } = await createSearched(createWordEmbedder());
    const [first] = await find(bench, store, { query: "does a dog or a puppy need a walk" });
    assert.equal(first?.filename, "pets.md");
    assert.ok((first?.score ?? 0) > 0.6);
  });

  it("says of files that embeddings failed for that the server is at fault", async () => {
    const broken: Embedder = {
      model: "broken",
      embed: () => Promise.reject(new Failure("provider_failed", "The server is down.")),
    };
    const bench = await createBench(broken);
    const { id: store } = await createStore(bench, TENANT, {});
    const file = await bench.upload("a.txt", "Some text");
    await createStoreFile(bench, TENANT, store, { file_id: file });
    await bench.engine.idle();
    const { status, last_error } = await getStoreFile(bench, TENANT, { store, file });
    assert.equal(status, "failed");
    assert.deepEqual(last_error, { code: "server_error", message: "The server is down." });
    await assert.rejects(find(bench, store, { query: "x" }), { code: "provider_failed" });
  });
});
