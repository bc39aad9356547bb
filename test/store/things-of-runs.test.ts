/** Things that runs bring to the shelf of their record: with their beginning and their ending, or not at all. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryShelf } from "../../src/store/memory/memory-shelf.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { openKept } from "../../src/store/open-kept.ts";
import type { NewThing, Shelf } from "../../src/store/shelf.ts";
import { openSqliteStores } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { newDatabasePath } from "./database-path.ts";
import { describeNeeds } from "./needs-contract.ts";
import { ended, newRun } from "./store-contract.ts";

const RECORDS: Readonly<Record<string, () => Promise<{ store: Store; shelf: Shelf }>>> = {
  memory: async () => {
    const store = createMemoryStore();
    return { store, shelf: createMemoryShelf(store) };
  },
  SQLite: () => openSqliteStores(newDatabasePath()),
};

function thing(id: string, parent: string | null = null): NewThing {
  const rest = { body: id, created_at_ms: 1, expires_at_ms: null };
  return { tenant: "t", kind: "response", id, parent, ...rest };
}

describeNeeds("memory", () => openKept(undefined));
describeNeeds("SQLite", () => openKept(newDatabasePath()));

for (const [name, open] of Object.entries(RECORDS)) {
  describe(`${name}: things of runs`, () => {
    it("exist with the run, which has its owner from the beginning", async () => {
      const { store, shelf } = await open();
      const run = { ...newRun("run_1"), owner: "worker_1", things: [thing("a")] };
      assert.equal(await store.createRun(run), true);
      const { epoch, owner } = (await store.getRun("run_1")) ?? assert.fail("it is not there");
      assert.deepEqual([epoch, owner], [1, "worker_1"]);
      assert.equal((await shelf.get(thing("a")))?.body, "a");
      const again = { ...run, things: [thing("b")] };
      assert.equal(await store.createRun(again), false);
      assert.equal(await shelf.get(thing("b")), undefined);
      await store.close();
    });

    it("exist with the ending, only if the owner writes it", async () => {
      const { store, shelf } = await open();
      await store.createRun({ ...newRun("run_1"), owner: "worker_1", things: [thing("a")] });
      const things = [thing("b", "a")];
      await assert.rejects(store.finish("run_1", 7, { ...ended(0), things }), { code: "fenced" });
      assert.equal(await shelf.get(thing("b")), undefined);
      await store.finish("run_1", 1, { ...ended(0), things });
      assert.equal((await shelf.get(thing("b")))?.parent, "a");
      await store.close();
    });
  });
}
