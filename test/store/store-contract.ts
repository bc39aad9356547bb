/** What every `Store` must do. Each implementation calls this from its own test file. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { readWholeLog } from "../../src/engine/read-log.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { NewRun, RunFinish } from "../../src/store/journal.ts";
import type { Store } from "../../src/store/store.ts";
import { takenKey } from "../../src/store/taken-key.ts";

export function describeStore(name: string, open: () => Promise<Store>): void {
  /** A store with one claimed run, `run_1` at epoch 1. */
  const openWithRun = async (): Promise<Store> => {
    const store = await open();
    await store.createRun(newRun("run_1"));
    assert.equal(await store.claim("run_1", "worker_1"), 1);
    return store;
  };

  describe(`${name}: runs`, () => {
    it("returns a run as it was written down", async () => {
      const store = await open();
      const input = { a: [1, null, "ü 🙂"] };
      const run = newRun("run_1", { input, title: 'say "hi" 漢字', tenant: "acme" });
      assert.equal(await store.createRun(run), true);
      assert.deepEqual(await store.getRun("run_1"), {
        ...run,
        status: "running",
        epoch: 0,
        owner: null,
        ending: null,
        result: null,
        ...{ ended_at_ms: null, next_seq: 0, journal: 1 },
      });
      await store.createRun(newRun("run_1/a", { parent_id: "run_1" }));
      assert.equal((await store.getRunStatus("run_1/a"))?.tenant, "acme", "its parent's");
      await store.close();
    });

    it("creates the same id once and changes nothing the second time", async () => {
      const store = await open();
      await store.createRun(newRun("run_1"));
      assert.equal(await store.createRun(newRun("run_1", { title: "other" })), false);
      assert.equal((await store.getRun("run_1"))?.title, "title of run_1");
      await store.close();
    });

    it("finds nothing for a run that was not created", async () => {
      const store = await open();
      assert.equal(await store.getRun("run_x"), undefined);
      assert.deepEqual(await store.readSteps("run_x"), new Map());
      assert.deepEqual(await store.readEvents("run_x", -1, 10), []);
      await assert.rejects(store.claim("run_x", "worker_1"), { code: "not_found" });
      await assert.rejects(store.saveStep("run_x", 1, { key: "a", value: 1 }), { code: "fenced" });
      await store.close();
    });

    it("keeps texts that SQL would truncate or change", async () => {
      const store = await open();
      for (const id of ["nul\0nul", "half \ud800", '"quoted"', "emoji 🙂", "'; drop table runs"]) {
        await store.createRun(newRun(id, { title: id, path: `/${id}` }));
        await store.claim(id, id);
        await store.saveStep(id, 1, { key: id, value: id });
        const run = await store.getRun(id);
        assert.deepEqual([run?.id, run?.title, run?.path, run?.owner], [id, id, `/${id}`, id]);
        assert.deepEqual([...(await store.readSteps(id))], [[id, id]]);
      }
      await store.close();
    });

    it("removes a tree, whatever its depth, and nothing beside it", async () => {
      const store = await open();
      const parents = { a: null, "a/b": "a", "a/b/c": "a/b", 'a/"d"': "a", ab: null, "ab/c": "ab" };
      for (const [id, parent_id] of Object.entries(parents)) {
        await store.createRun(newRun(id, { parent_id }));
      }
      await store.createRun(newRun("left", { parent_id: "gone" }));
      await store.deleteTree("a");
      await store.deleteTree("gone");
      await store.deleteTree("unknown");
      const left = await store.listRuns({ limit: 10 });
      assert.deepEqual(left.map(({ id }) => id).sort(), ["ab", "ab/c"]);
      await store.close();
    });

    it("returns the status of a run without its input and its result", async () => {
      const store = await open();
      assert.equal(await store.getRunStatus("run_1"), undefined);
      await store.createRun(newRun("run_1", { input: { a: 1 } }));
      await store.claim("run_1", "worker_1");
      await store.append("run_1", 1, 0, notices(2));
      const { input: _, result: __, ...expected } = (await store.getRun("run_1")) ?? assert.fail();
      const { id, status, epoch, owner, next_seq } =
        (await store.getRunStatus("run_1")) ?? assert.fail();
      assert.deepEqual({ ...expected, id, status, epoch, owner, next_seq }, expected);
      await store.finish("run_1", 1, ended(2));
      const after = (await store.getRunStatus("run_1")) ?? assert.fail();
      assert.deepEqual([after.status, after.ending], ["ended", ended(2).ending]);
      await store.close();
    });

    it("lists runs newest first, by status, by parent and by page", async () => {
      const store = await open();
      const ids = ["run_1", "run_2", "run_2/a", "run_2/b", "run_3"];
      for (const [index, id] of ids.entries()) {
        // Two of one millisecond: the later one is the newer.
        const created_at_ms = 1000 + Math.floor(index / 2);
        const parent_id = id.includes("/") ? "run_2" : null;
        await store.createRun(newRun(id, { created_at_ms, parent_id }));
      }
      await store.claim("run_1", "worker_1");
      await store.finish("run_1", 1, ended(0));
      const list = async (query: object): Promise<string[]> =>
        (await store.listRuns({ limit: 10, ...query })).map((run) => run.id);
      const newestFirst = [...ids].reverse();
      assert.deepEqual(await list({}), newestFirst);
      assert.deepEqual(await list({ limit: 2 }), newestFirst.slice(0, 2));
      assert.deepEqual(await list({ before: "run_2/b" }), newestFirst.slice(2));
      assert.deepEqual(await list({ status: "ended" }), ["run_1"]);
      assert.deepEqual(await list({ status: "running" }), newestFirst.slice(0, 4));
      assert.deepEqual(await list({ parent_id: "run_2" }), ["run_2/b", "run_2/a"]);
      assert.deepEqual(await list({ parent_id: null }), ["run_3", "run_2", "run_1"]);
      assert.deepEqual(await list({ parent_id: null, before: "run_2/a" }), ["run_2", "run_1"]);
      assert.deepEqual(await list({ parent_id: "run_2", before: "run_2/b" }), ["run_2/a"]);
      await assert.rejects(list({ before: "run_x" }), { code: "not_found" });
      await store.close();
    });

    it("raises the epoch at each claim and refuses one after the ending", async () => {
      const store = await openWithRun();
      assert.equal(await store.claim("run_1", "worker_2"), 2);
      const run = await store.getRun("run_1");
      assert.deepEqual([run?.epoch, run?.owner], [2, "worker_2"]);
      await store.finish("run_1", 2, ended(0));
      assert.equal(await store.claim("run_1", "worker_3"), undefined);
      await store.close();
    });

    it("removes a run with everything that belongs to it", async () => {
      const store = await openWithRun();
      await store.saveStep("run_1", 1, { key: "a", value: LARGE });
      await store.append("run_1", 1, 0, notices(3));
      await store.putSignal("run_1", { topic: "t", key: "k", body: 1 });
      await store.deleteRun("run_1");
      await store.deleteRun("run_1");
      assert.equal(await store.getRun("run_1"), undefined);
      assert.deepEqual(await store.readEvents("run_1", -1, 10), []);
      await assert.rejects(store.append("run_1", 1, 3, notices(1)), { code: "fenced" });
      await store.createRun(newRun("run_1"));
      await store.claim("run_1", "worker_1");
      assert.deepEqual(await store.readSteps("run_1"), new Map());
      assert.equal(await store.takeSignal("run_1", 1, "t"), undefined);
      await store.close();
    });

    it("keeps the last beat of each worker", async () => {
      const store = await open();
      assert.equal(await store.getWorker("worker_1"), undefined);
      const place = { boot: "b", pid_namespace: "4", started: "7" };
      const worker = { id: "worker_1", host: "a", pid: 1, ...place, beat_at_ms: 6, beat_ms: 2 };
      await store.beat({ ...worker, beat_at_ms: 5, beat_ms: 1 });
      await store.beat(worker);
      const { silent_ms = 0, ...found } = (await store.getWorker("worker_1")) ?? assert.fail();
      assert.deepEqual(found, worker);
      assert.ok(silent_ms >= 0);
      await store.close();
    });
  });

  describe(`${name}: journal and log`, () => {
    it("keeps what steps returned, of every kind and size", async () => {
      const store = await openWithRun();
      const values: Json[] = [null, false, 0, "", "ü", [1, [2]], { a: { b: null } }, LARGE];
      for (const [index, value] of values.entries()) {
        await store.saveStep("run_1", 1, { key: `step:${index}`, value });
      }
      const steps = await store.readSteps("run_1");
      assert.deepEqual(
        values.map((_, index) => steps.get(`step:${index}`)),
        values,
      );
      await store.close();
    });

    it("journals a step with its last events, or neither", async () => {
      const store = await openWithRun();
      await store.append("run_1", 1, 0, notices(1));
      const step = { key: "a", value: 1, last: { firstSeq: 1, events: notices(2) } };
      await assert.rejects(
        store.saveStep("run_1", 1, { ...step, last: { ...step.last, firstSeq: 3 } }),
      );
      await assert.rejects(store.saveStep("run_1", 2, step), { code: "fenced" });
      assert.deepEqual(await store.readSteps("run_1"), new Map());
      await store.saveStep("run_1", 1, step);
      assert.equal((await store.getRun("run_1"))?.next_seq, 3);
      const again = { ...step, last: { firstSeq: 3, events: notices(1) } };
      await assert.rejects(store.saveStep("run_1", 1, again), { code: "internal" });
      assert.equal((await store.readEvents("run_1", -1, 10)).length, 3);
      assert.equal((await store.getRun("run_1"))?.next_seq, 3);
      await store.close();
    });

    it("journals a key once", async () => {
      const store = await openWithRun();
      await store.saveStep("run_1", 1, { key: "a", value: 1 });
      await assert.rejects(store.saveStep("run_1", 1, { key: "a", value: 2 }), {
        code: "internal",
      });
      assert.equal((await store.readSteps("run_1")).get("a"), 1);
      await store.close();
    });

    it("reads any part of the log, whatever the batches were", async () => {
      const store = await openWithRun();
      let first = 0;
      for (const size of [1, 3, 0, 7, 2]) {
        await store.append("run_1", 1, first, notices(size, first));
        first += size;
      }
      for (let after = -2; after < 15; after++) {
        for (const limit of [0, 1, 2, 5, 100]) {
          const events = await store.readEvents("run_1", after, limit);
          const from = Math.max(after + 1, 0);
          const numbers = notices(13).flatMap((_, seq) => (seq >= from ? [seq] : []));
          const expected = numbers.slice(0, limit).map((seq) => logged("run_1", seq));
          assert.deepEqual(events, expected, `after ${after}, limit ${limit}`);
        }
      }
      assert.equal((await store.getRun("run_1"))?.next_seq, 13);
      await store.close();
    });

    it("refuses an append that leaves a gap or repeats a number", async () => {
      const store = await openWithRun();
      await store.append("run_1", 1, 0, notices(2));
      for (const firstSeq of [0, 1, 3, -1]) {
        await assert.rejects(store.append("run_1", 1, firstSeq, notices(1)), { code: "internal" });
        await assert.rejects(store.finish("run_1", 1, ended(firstSeq)), { code: "internal" });
      }
      assert.equal((await store.readEvents("run_1", -1, 10)).length, 2);
      assert.equal((await store.getRun("run_1"))?.status, "running");
      await store.close();
    });

    it("keeps large inputs, batches and results", async () => {
      const store = await open();
      await store.createRun(newRun("run_1", { input: LARGE }));
      await store.claim("run_1", "worker_1");
      const event: RunEvent = { type: "notice", code: "wait", message: LARGE.text };
      await store.append("run_1", 1, 0, [event, event]);
      await store.finish("run_1", 1, { ...ended(2), result: LARGE });
      const run = await store.getRun("run_1");
      assert.deepEqual([run?.input, run?.result], [LARGE, LARGE]);
      assert.deepEqual(await store.readEvents("run_1", 0, 1), [{ run_id: "run_1", seq: 1, event }]);
      await store.close();
    });

    it("reads a log of many events to its end", async () => {
      const store = await openWithRun();
      for (let first = 0; first < 20_000; first += 500) {
        await store.append("run_1", 1, first, notices(500, first));
      }
      const tail = await store.readEvents("run_1", 19_990, 100);
      assert.deepEqual(
        tail.map(({ seq }) => seq),
        [19_991, 19_992, 19_993, 19_994, 19_995, 19_996, 19_997, 19_998, 19_999],
      );
      const log = await readWholeLog(store, "run_1");
      assert.deepEqual([log.length, log.at(-1)?.seq], [20_000, 19_999]);
      await store.close();
    });

    it("ends a run once, with its last events, and nothing after", async () => {
      const store = await openWithRun();
      await store.append("run_1", 1, 0, notices(1));
      await store.finish("run_1", 1, { ...ended(1), result: { text: "done" } });
      const run = await store.getRun("run_1");
      assert.deepEqual(
        [run?.status, run?.ending, run?.result, run?.ended_at_ms, run?.next_seq],
        ["ended", "completed", { text: "done" }, 2000, 2],
      );
      await assert.rejects(store.finish("run_1", 1, ended(2)), { code: "internal" });
      await assert.rejects(store.append("run_1", 1, 2, notices(1)), { code: "internal" });
      await assert.rejects(store.saveStep("run_1", 1, { key: "a", value: 1 }), {
        code: "internal",
      });
      await store.close();
    });

    it("refuses every write of an earlier owner", async () => {
      const store = await openWithRun();
      await store.putSignal("run_1", { topic: "t", key: "k", body: 1 });
      await store.claim("run_1", "worker_2");
      const zombie = [
        () => store.append("run_1", 1, 0, notices(1)),
        () => store.saveStep("run_1", 1, { key: "a", value: 1 }),
        () => store.takeSignal("run_1", 1, "t"),
        () => store.takeSignals("run_1", 1, { topic: "t", key: "@take" }),
        () => store.finish("run_1", 1, ended(0)),
      ];
      for (const write of zombie) await assert.rejects(write(), { code: "fenced" });
      assert.deepEqual(await store.readEvents("run_1", -1, 10), []);
      assert.deepEqual(await store.readSteps("run_1"), new Map());
      assert.equal(await store.takeSignal("run_1", 2, "t"), 1);
      await store.append("run_1", 2, 0, notices(1));
      await store.close();
    });
  });

  describe(`${name}: signals`, () => {
    it("gives out messages of a topic once, in the order they came", async () => {
      const store = await openWithRun();
      for (const key of ["a", "b", "a", "c"]) {
        await store.putSignal("run_1", { topic: "t", key, body: { key } });
      }
      await store.putSignal("run_1", { topic: "other", key: "a", body: "other" });
      const taken: (Json | undefined)[] = [];
      for (let i = 0; i < 4; i++) taken.push(await store.takeSignal("run_1", 1, "t"));
      assert.deepEqual(taken, [{ key: "a" }, { key: "b" }, { key: "c" }, undefined]);
      assert.equal(await store.takeSignal("run_1", 1, "other"), "other");
      await store.close();
    });

    it("does not bring a taken message back when it is sent again", async () => {
      const store = await openWithRun();
      await store.putSignal("run_1", { topic: "t", key: "a", body: 1 });
      await store.takeSignal("run_1", 1, "t");
      await store.putSignal("run_1", { topic: "t", key: "a", body: 1 });
      assert.equal(await store.takeSignal("run_1", 1, "t"), undefined);
      await store.close();
    });

    it("journals what was taken, so that a crash cannot lose it", async () => {
      const store = await openWithRun();
      await store.putSignal("run_1", { topic: "t", key: "a", body: "first" });
      await store.putSignal("run_1", { topic: "t", key: "b", body: "second" });
      await store.takeSignal("run_1", 1, "t");
      await store.takeSignal("run_1", 1, "t");
      const steps = await store.readSteps("run_1");
      assert.equal(steps.get(takenKey("t", 0)), "first");
      assert.equal(steps.get(takenKey("t", 1)), "second");
      await store.close();
    });

    it("gives out all remaining messages of a topic at once, journaled as one list", async () => {
      const store = await openWithRun();
      for (const key of ["a", "b", "a"]) {
        await store.putSignal("run_1", { topic: "t", key, body: { key } });
      }
      await store.putSignal("run_1", { topic: "other", key: "a", body: "other" });
      const all = [{ key: "a" }, { key: "b" }];
      assert.deepEqual(await store.takeSignals("run_1", 1, { topic: "t", key: "@take:1" }), all);
      await store.putSignal("run_1", { topic: "t", key: "a", body: { key: "again" } });
      assert.deepEqual(await store.takeSignals("run_1", 1, { topic: "t", key: "@take:2" }), []);
      assert.deepEqual([...(await store.readSteps("run_1"))], [["@take:1", all]]);
      await store.close();
    });

    it("refuses a message for a run that does not exist", async () => {
      const store = await open();
      const put = store.putSignal("run_x", { topic: "t", key: "a", body: 1 });
      await assert.rejects(put, { code: "not_found" });
      await store.close();
    });
  });
}

/** Over the limit for inline values, in characters of more than one byte. */
const LARGE = { text: "ü🙂".repeat(60_000) };

export function newRun(id: string, more: Partial<NewRun> = {}): NewRun {
  return {
    id,
    parent_id: null,
    path: "/root",
    name: "agent",
    input: null,
    title: `title of ${id}`,
    created_at_ms: 1000,
    ...more,
  };
}

export function notices(count: number, first = 0): RunEvent[] {
  return Array.from({ length: count }, (_, index) => notice(first + index));
}

function notice(seq: number): RunEvent {
  return { type: "notice", code: "wait", message: `event ${seq} ü🙂` };
}

function logged(run_id: string, seq: number): object {
  return { run_id, seq, event: notice(seq) };
}

export function ended(firstSeq: number): RunFinish {
  return { ending: "completed", result: null, firstSeq, events: notices(1, firstSeq), at_ms: 2000 };
}
