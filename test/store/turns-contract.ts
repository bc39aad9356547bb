/** Queues of a store: how many have their turn, which run is next, and which is refused. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Store } from "../../src/store/store.ts";
import { TURN_KEY } from "../../src/store/turns.ts";

const QUEUE = "background";

export function describeTurns(name: string, open: () => Promise<Store>): void {
  /** Writes a run down, and asks for its turn as its first owner does. */
  const ask = async (store: Store, id: string, lane: string, atOnce = 1): Promise<boolean> => {
    const run = { id, parent_id: null, path: "/root", name: "body", input: null, title: id };
    await store.createRun({ ...run, created_at_ms: 1 });
    const epoch = (await store.claim(id, "first")) ?? assert.fail("it has ended");
    return await store.awaitTurn(id, epoch, { queue: QUEUE, lane, atOnce });
  };
  const finish = async (store: Store, id: string): Promise<void> => {
    const { epoch, next_seq } = (await store.getRun(id)) ?? assert.fail(`no ${id}`);
    const end = { ending: "completed", result: null, events: [], at_ms: 2 } as const;
    await store.finish(id, epoch, { ...end, firstSeq: next_seq });
  };
  const take = async (store: Store, atOnce = 1): Promise<string | undefined> =>
    (await store.takeTurn("second", { queue: QUEUE, atOnce }))?.id;

  describe(`${name}: turns`, () => {
    it("gives a run to owners that know its journal, and remembers the newest of them", async () => {
      const store = await open();
      const about = { path: "/root", name: "body", input: null, title: "", created_at_ms: 1 };
      await store.createRun({ id: "run_1", parent_id: null, ...about, journal: 2 });
      assert.equal(await store.claim("run_1", "older", undefined, 1), undefined);
      assert.equal(await store.claim("run_1", "worker_1", 0, 2), 1);
      assert.equal(await store.claim("run_1", "newer", 1, 3), 2);
      const [left] = await store.listUnfinished();
      assert.deepEqual([left?.journal, (await store.getRunStatus("run_1"))?.journal], [3, 3]);
      assert.equal(await store.claim("run_1", "worker_1", 2, 2), undefined);
      await store.close();
    });

    it("gives none to an owner that does not know a run's journal", async () => {
      const store = await open();
      for (const [id, journal] of [
        ["newer", 2],
        ["own", 1],
      ] as const) {
        const about = { path: "/root", name: "body", input: null, title: id, created_at_ms: 1 };
        await store.createRun({ id, parent_id: null, ...about, journal });
        await store.claim(id, "first", 0, 2);
        await store.awaitTurn(id, 1, { queue: QUEUE, lane: "a", atOnce: 0 });
      }
      const queue = { queue: QUEUE, atOnce: 9 };
      assert.equal(await store.takeTurn("older", queue, 1), undefined, "both are of a newer one");
      assert.equal((await store.takeTurn("newer", queue, 2))?.id, "newer");
      assert.equal(await store.countWaiting(QUEUE), 1);
      await store.close();
    });

    it("has a limited number at once; a run that waits has no owner until it is taken", async () => {
      const store = await open();
      assert.equal(await ask(store, "a1", "a"), true);
      assert.equal(await ask(store, "a2", "a"), false);
      assert.equal((await store.getRun("a2"))?.owner, null);
      assert.equal(await store.countWaiting(QUEUE), 1);
      assert.equal(await take(store), undefined);
      await finish(store, "a1");
      assert.deepEqual(await store.takeTurn("second", { queue: QUEUE, atOnce: 1 }), {
        id: "a2",
        epoch: 2,
      });
      assert.equal((await store.getRun("a2"))?.owner, "second");
      assert.equal((await store.readSteps("a2")).get(TURN_KEY), 2);
      assert.equal(await store.countWaiting(QUEUE), 0);
      const place = { queue: QUEUE, lane: "a", atOnce: 1 };
      assert.equal(await store.awaitTurn("a2", 2, place), true, "it keeps its turn");
      await assert.rejects(store.awaitTurn("a2", 1, place), { code: "fenced" });
      await store.close();
    });

    it("goes round the lanes, and in each to the oldest", async () => {
      const store = await open();
      for (const id of ["a1", "a2", "a3", "b1", "b2", "c1"]) await ask(store, id, id.slice(0, 1));
      const order: string[] = [];
      for (let running = "a1"; running !== ""; ) {
        order.push(running);
        await finish(store, running);
        running = (await take(store)) ?? "";
      }
      assert.deepEqual(order, ["a1", "b1", "c1", "a2", "b2", "a3"]);
      await store.close();
    });

    it("lets no run pass those that wait", async () => {
      const store = await open();
      await ask(store, "a1", "a");
      await ask(store, "a2", "a");
      assert.equal(await ask(store, "b1", "b", 2), false);
      assert.equal(await take(store, 2), "b1");
      await store.close();
    });

    it("gives a returned turn to others, and gives it again when it is asked for", async () => {
      const store = await open();
      const place = { queue: QUEUE, lane: "a", atOnce: 1 };
      await ask(store, "a1", "a");
      await ask(store, "b1", "b");
      await store.giveTurnBack("a1", 1);
      await assert.rejects(store.giveTurnBack("a1", 0), { code: "fenced" });
      assert.equal((await store.getRun("a1"))?.owner, "first", "it stays where it is");
      assert.equal(await take(store), "b1");
      assert.equal(await take(store, 2), undefined, "no other owner gets its run");
      assert.equal(await store.awaitTurn("a1", 1, place), false);
      await finish(store, "b1");
      assert.equal(await take(store), "a1");
      await store.giveTurnBack("a1", 2);
      assert.equal(await store.awaitTurn("a1", 2, { ...place, atOnce: 0 }), false);
      assert.equal(await take(store), "a1");
      assert.equal((await store.readSteps("a1")).get(TURN_KEY), 3, "of its last turn");
      await store.close();
    });

    it("makes a run wait that is written down without an owner, with what its journal has then", async () => {
      const store = await open();
      const run = {
        id: "a1",
        parent_id: null,
        path: "/root",
        name: "body",
        input: null,
        title: "",
      };
      const place = { queue: QUEUE, lane: "a", atOnce: 1, maxWaiting: 1 };
      const steps = [{ key: "@limit", value: 7 }];
      const left = { ...run, created_at_ms: 1, owner: null, place, steps };
      assert.equal(await store.createQueued(left, place), "new");
      assert.equal(await store.createQueued(left, place), "known");
      assert.equal(await store.countWaiting(QUEUE), 1);
      assert.equal((await store.getRunStatus("a1"))?.owner, null);
      assert.deepEqual(await store.readSteps("a1"), new Map([["@limit", 7]]));
      const taken = await store.takeTurn("second", { queue: QUEUE, atOnce: 1 });
      assert.deepEqual(taken, { id: "a1", epoch: 2 });
      assert.deepEqual([...(await store.readSteps("a1")).keys()].sort(), ["@limit", TURN_KEY]);
      await store.close();
    });

    it("makes a run wait that is written down with the ending of another, and not earlier", async () => {
      const store = await open();
      const about = { path: "/root", name: "body", title: "", created_at_ms: 1 };
      await store.createRun({ id: "a1", parent_id: null, input: null, ...about, tenant: "t" });
      const epoch = (await store.claim("a1", "first")) ?? assert.fail();
      const end = { ending: "failed", result: null, events: [], at_ms: 2, firstSeq: 0 } as const;
      const place = { queue: QUEUE, lane: "a" };
      const run = { id: "a1/next", parent_id: "a1", input: { a: 1 }, ...about };
      const starts = [{ ...run, owner: null, place }];
      await assert.rejects(store.finish("a1", epoch - 1, { ...end, starts }), { code: "fenced" });
      assert.equal(await store.getRun("a1/next"), undefined);
      await store.finish("a1", epoch, { ...end, starts });
      const { owner, input, tenant, status } = (await store.getRun("a1/next")) ?? assert.fail();
      assert.deepEqual([owner, input, tenant, status], [null, { a: 1 }, "t", "running"]);
      assert.equal(await store.countWaiting(QUEUE), 1);
      assert.deepEqual(await store.takeTurn("second", { queue: QUEUE, atOnce: 1 }), {
        id: "a1/next",
        epoch: 2,
      });
      await store.deleteTree("a1");
      assert.equal(await store.getRun("a1/next"), undefined);
      await store.close();
    });

    it("frees the turn of a run that ended or was deleted", async () => {
      const store = await open();
      await ask(store, "a1", "a");
      await ask(store, "a2", "a");
      await ask(store, "a3", "a");
      await store.deleteTree("a1");
      await store.deleteRun("a2");
      assert.equal(await take(store), "a3");
      await finish(store, "a3");
      assert.equal(await ask(store, "a4", "a"), true);
      await store.close();
    });

    it("writes down as many of a lane as may wait, and those that there is room for", async () => {
      const store = await open();
      const queued = (id: string, lane: string): Promise<string> => {
        const run = { id, parent_id: null, path: "/root", name: "body", input: null, title: id };
        const place = { queue: QUEUE, lane, atOnce: 1, maxWaiting: 1 };
        return store.createQueued({ ...run, created_at_ms: 1 }, place);
      };
      assert.deepEqual(
        [await queued("1", "a"), await queued("2", "a"), await queued("2", "a")],
        ["new", "new", "known"],
      );
      assert.equal(await queued("3", "a"), "full");
      assert.equal(await store.getRun("3"), undefined);
      assert.equal(await queued("4", "b"), "new");
      await store.deleteRun("2");
      assert.equal(await queued("3", "a"), "new");
      assert.equal(await take(store), undefined, "no owner has given them up");
      await store.close();
    });
  });
}
