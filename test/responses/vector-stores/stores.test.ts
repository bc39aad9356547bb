import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { searchStore } from "../../../src/responses/vector-stores/search.ts";
import {
  createStore,
  deleteStore,
  expireStore,
  getStore,
  listStores,
  updateStore,
} from "../../../src/responses/vector-stores/stores.ts";
import { checkPublished } from "../../conformance/check.ts";
import { createBench, TENANT } from "./vector-fixture.ts";

const DAY_MS = 86_400_000;

describe("vector stores", () => {
  it("are made, shown, changed and deleted as published", async () => {
    const bench = await createBench();
    const file = await bench.upload("a.txt", "The quick fox.");
    const made = await createStore(bench, TENANT, {
      name: "Handbook",
      file_ids: [file],
      metadata: { a: "b" },
    });
    checkPublished("VectorStoreObject", made);
    assert.match(made.id, /^vs_/);
    assert.deepEqual([made.status, made.file_counts.in_progress], ["in_progress", 1]);
    await bench.engine.idle();
    const ready = await getStore(bench, TENANT, made.id);
    checkPublished("VectorStoreObject", ready);
    assert.deepEqual([ready.status, ready.file_counts.completed], ["completed", 1]);
    assert.ok(ready.usage_bytes > 0);
    const changed = await updateStore(bench, TENANT, made.id, { name: null, metadata: { c: "d" } });
    assert.deepEqual([changed.name, changed.metadata], ["", { c: "d" }]);
    const page = await listStores(bench, TENANT, new URLSearchParams());
    checkPublished("ListVectorStoresResponse", page);
    assert.deepEqual(page.data, [changed]);
    const deleted = await deleteStore(bench, TENANT, made.id);
    checkPublished("DeleteVectorStoreResponse", deleted);
    await assert.rejects(getStore(bench, TENANT, made.id), {
      code: "not_found",
      param: "vector_store_id",
    });
    const counts = await bench.chunks.countWords({ tenant: TENANT, store: made.id }, []);
    assert.equal(counts.total, 0);
  });

  it("are not made with a file that is not there, or is another tenant's", async () => {
    const bench = await createBench();
    const foreign = await bench.upload("a.txt", "x", "other");
    for (const file of ["file-none", foreign]) {
      await assert.rejects(createStore(bench, TENANT, { file_ids: [file] }), { code: "not_found" });
    }
    assert.deepEqual((await listStores(bench, TENANT, new URLSearchParams())).data, []);
  });

  it("belong to one tenant", async () => {
    const bench = await createBench();
    const { id } = await createStore(bench, TENANT, {});
    const asked = { store: id, body: { query: "x" } };
    const signal = new AbortController().signal;
    for (const attempt of [
      () => getStore(bench, "other", id),
      () => updateStore(bench, "other", id, { name: "x" }),
      () => deleteStore(bench, "other", id),
      () => searchStore(bench, "other", asked, signal),
    ]) {
      await assert.rejects(attempt(), { code: "not_found" });
    }
    assert.deepEqual((await listStores(bench, "other", new URLSearchParams())).data, []);
  });

  it("do not expire any more, whichever of two changes was written last", async () => {
    const bench = await createBench();
    const { id } = await createStore(bench, TENANT, {});
    const setExpiry = bench.shelf.setExpiry.bind(bench.shelf);
    let second: Promise<unknown> | undefined;
    // The first change is overtaken before it has set its expiry, if that is a write of its own.
    bench.shelf.setExpiry = async (...asked) => {
      if (!second) {
        second = updateStore(bench, TENANT, id, { expires_after: null });
        await second;
      }
      return await setExpiry(...asked);
    };
    await updateStore(bench, TENANT, id, { expires_after: { anchor: "last_active_at", days: 1 } });
    await (second ?? updateStore(bench, TENANT, id, { expires_after: null }));
    bench.clock.advance(2 * DAY_MS);
    assert.deepEqual(await bench.shelf.listExpired(bench.clock.now(), 1), []);
    assert.equal((await getStore(bench, TENANT, id)).status, "completed");
  });

  it("stay with what they have if they are changed while they are removed as expired", async () => {
    const bench = await createBench();
    const file = await bench.upload("a.txt", "The quick fox.");
    const expires_after = { anchor: "last_active_at", days: 1 };
    const { id } = await createStore(bench, TENANT, { file_ids: [file], expires_after });
    await bench.engine.idle();
    bench.clock.advance(2 * DAY_MS);
    const expiredBy = bench.clock.now();
    const list = bench.shelf.list.bind(bench.shelf);
    bench.shelf.list = async (query) => {
      bench.shelf.list = list;
      await updateStore(bench, TENANT, id, { expires_after: null });
      return await list(query);
    };
    await expireStore(bench, TENANT, id, expiredBy);
    assert.equal((await getStore(bench, TENANT, id)).file_counts.completed, 1);
    const counts = await bench.chunks.countWords({ tenant: TENANT, store: id }, []);
    assert.equal(counts.total, 1);
  });

  it("expire so many days after they were last used", async () => {
    const bench = await createBench();
    const expires_after = { anchor: "last_active_at", days: 2 };
    const { id, expires_at, created_at } = await createStore(bench, TENANT, { expires_after });
    assert.equal(expires_at, created_at + 2 * 86_400);
    await bench.clock.advance(DAY_MS);
    const asked = { store: id, body: { query: "x" } };
    const signal = new AbortController().signal;
    await searchStore(bench, TENANT, asked, signal);
    assert.equal((await getStore(bench, TENANT, id)).expires_at, created_at + 3 * 86_400);
    const [thing] = await bench.shelf.listExpired(bench.clock.now() + 2 * DAY_MS, 10);
    assert.equal(thing?.id, id);
    await bench.clock.advance(2 * DAY_MS);
    assert.equal((await getStore(bench, TENANT, id)).status, "expired");
    await assert.rejects(searchStore(bench, TENANT, asked, signal), { code: "not_found" });
    const kept = await updateStore(bench, TENANT, id, { expires_after: null });
    assert.deepEqual([kept.expires_at, kept.status], [null, "completed"]);
  });

  it("refuse what the published description refuses", async () => {
    const bench = await createBench();
    const bad: readonly [object, string][] = [
      [{ expires_after: { anchor: "created_at", days: 1 } }, "expires_after.anchor"],
      [{ expires_after: { anchor: "last_active_at", days: 400 } }, "expires_after.days"],
      [{ file_ids: "x" }, "file_ids"],
      [{ metadata: { a: 1 } }, "metadata.a"],
    ];
    for (const [body, param] of bad) {
      await assert.rejects(createStore(bench, TENANT, body), { code: "invalid_request", param });
    }
  });
});
