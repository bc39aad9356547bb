/** Queries with which processes find their runs and messages: for all stores. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { ended, newRun } from "./store-contract.ts";

const directory = await mkdtemp(join(tmpdir(), "offshoot-unfinished-"));
after(() => rm(directory, { recursive: true, force: true }));

const stores: Readonly<Record<string, () => Promise<Store>>> = {
  "memory store": async () => createMemoryStore(),
  "SQLite store": () => openSqliteStore(join(directory, "runs.db")),
};

for (const [name, open] of Object.entries(stores)) {
  describe(`${name}: unfinished runs`, () => {
    it("lists which runs have not ended, oldest first, with their owners", async () => {
      const store = await open();
      for (const [id, created_at_ms] of [["c", 3] as const, ["a", 1] as const, ["b", 2] as const]) {
        await store.createRun(newRun(id, { created_at_ms }));
      }
      await store.claim("a", "worker_1");
      await store.claim("b", "worker_1");
      await store.finish("b", 1, ended(0));
      assert.deepEqual(
        (await store.listUnfinished()).map(({ id, owner, epoch }) => [id, owner, epoch]),
        [
          ["a", "worker_1", 1],
          ["c", null, 0],
        ],
      );
      // Of two processes that saw the same epoch, one takes the run over.
      assert.equal(await store.claim("a", "worker_2", 1), 2);
      assert.equal(await store.claim("a", "worker_3", 1), undefined);
      assert.equal((await store.getRun("a"))?.owner, "worker_2");
      for (const id of ["a", "b", "c"]) await store.deleteRun(id);
      await store.close();
    });

    it("finds the messages to the runs of one owner, until they are taken or the run ends", async () => {
      const store = await open();
      for (const [id, owner] of [
        ["a", "w1"] as const,
        ["b", "w1"] as const,
        ["c", "w2"] as const,
      ]) {
        await store.createRun(newRun(id));
        await store.claim(id, owner);
        await store.putSignal(id, { topic: "t", key: "1", body: { of: id } });
        await store.putSignal(id, { topic: "t", key: "2", body: "second" });
        await store.putSignal(id, { topic: "other", key: "1", body: null });
      }
      assert.deepEqual(await store.findSignals("w1", "t"), [
        { run_id: "a", body: { of: "a" } },
        { run_id: "b", body: { of: "b" } },
      ]);
      await store.takeSignal("a", 1, "t");
      await store.finish("b", 1, ended(0));
      assert.deepEqual(await store.findSignals("w1", "t"), [{ run_id: "a", body: "second" }]);
      assert.deepEqual(await store.findSignals("w3", "t"), []);
      await store.close();
    });
  });
}
