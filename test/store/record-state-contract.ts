/** How a record reports its state, for every implementation. Each implementation calls this. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeptRecord } from "../../src/store/kept.ts";
import type { Worker } from "../../src/store/ownership.ts";
import { begin, finish, NOW, task } from "./noted-events.ts";
import { newRun } from "./store-contract.ts";

const WORKER: Worker = {
  id: "w",
  host: "one",
  pid: 7,
  boot: "b",
  pid_namespace: "",
  started: "",
  beat_at_ms: NOW,
  beat_ms: 5,
};

export function describeRecordState(name: string, open: () => Promise<KeptRecord>): void {
  describe(`${name}: the state of a record`, () => {
    it("names the processes that work on it, with how many runs each has", async () => {
      const kept = await open();
      const store = await kept.runs();
      const state = await kept.state();
      assert.deepEqual(await state.listWorkers(NOW), []);
      await store.beat(WORKER);
      await store.beat({ ...WORKER, id: "gone", beat_at_ms: 0 });
      await begin(store, task("run_1"));
      await begin(store, task("run_2"));
      await finish(store, "run_2", "completed");
      const [worker, second] = await state.listWorkers(NOW + 400);
      assert.equal(second, undefined, "one that has said farewell is not reported");
      assert.deepEqual([worker?.id, worker?.host, worker?.pid, worker?.runs], ["w", "one", 7, 1]);
      assert.ok((worker?.silent_ms ?? -1) >= 0);
    });

    it("counts runs that have their turn and runs that wait, by queue and lane", async () => {
      const kept = await open();
      const store = await kept.runs();
      const state = await kept.state();
      const place = { queue: "background", atOnce: 1, maxWaiting: 9 };
      for (const [id, lane, at] of [
        ["run_1", "acme", 1],
        ["run_2", "acme", 2],
        ["run_3", "acme", 3],
        ["run_4", "other", 4],
      ] as const) {
        const run = newRun(id, { created_at_ms: at, owner: "w" });
        await store.createQueued(run, { ...place, lane });
        await store.awaitTurn(id, 1, { queue: "background", atOnce: 1, lane });
      }
      assert.deepEqual(await state.listLanes(), [
        { queue: "background", lane: "acme", running: 1, waiting: 2, oldest_at_ms: 2 },
        { queue: "background", lane: "other", running: 0, waiting: 1, oldest_at_ms: 4 },
      ]);
      await finish(store, "run_1", "completed");
      assert.equal((await state.listLanes())[0]?.running, 0);
    });

    it("counts things of tenants by kind, and the bytes that they store", async () => {
      const kept = await open();
      const store = await kept.runs();
      const shelf = await kept.shelf();
      const state = await kept.state();
      assert.deepEqual([await state.countKinds(), await state.listStorage()], [[], []]);
      const thing = { parent: null, body: { a: "é" }, created_at_ms: 1, expires_at_ms: null };
      for (const [tenant, kind, id] of [
        ["acme", "file", "a"],
        ["acme", "file", "b"],
        ["acme", "response", "a"],
        ["", "key", "k"],
        ["zeta", "conversation", "c"],
      ] as const) {
        await shelf.put({ tenant, kind, id, ...thing });
      }
      await begin(store, task("run_1"));
      await begin(store, task("run_2"));
      await store.createRun(newRun("run_1/a", { parent_id: "run_1" }));
      const counted = (await state.countKinds()).map(
        ({ tenant, kind, count }) => `${tenant} ${kind} ${count}`,
      );
      assert.deepEqual(counted.sort(), [
        ...[" key 1", "acme file 2", "acme response 1", "default run 2", "zeta conversation 1"],
      ]);
      const storage = await state.listStorage();
      const bytes = Buffer.byteLength(JSON.stringify(thing.body));
      const acme = storage.find(({ tenant }) => tenant === "acme");
      assert.deepEqual(acme, { tenant: "acme", bytes: 3 * bytes });
    });
  });
}
