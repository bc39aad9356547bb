/** Runs whose ending does not fit on the disk, and what happens to them once there is room. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { createBrokenRuns } from "../../src/engine/broken-runs.ts";
import { createLocalEngine } from "../../src/engine/local-engine.ts";
import type { RunStatus } from "../../src/protocol/run-record.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { type Bench, completed, until } from "./engine-fixture.ts";
import { openLocalBench, openMemoryRecord } from "./local-fixture.ts";

const RUN = { id: "run_1", title: "a run" };
const FULL = new Failure("store_full", "There is no room.");
/** The writes that a full disk refuses; changes of existing rows may still fit. */
const GROWS = ["finish", "append", "checkWritable"];

interface Disk {
  isFull: boolean;
  /** How many endings were refused. */
  refused: number;
}

async function withDisk(test: (bench: Bench, disk: Disk) => Promise<void>): Promise<void> {
  const disk: Disk = { isFull: true, refused: 0 };
  const store = new Proxy<Store>(createMemoryStore(), {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== "function") return method;
      return (...values: unknown[]) => {
        if (!disk.isFull || !GROWS.includes(String(name)))
          return Reflect.apply(method, target, values);
        if (name === "finish") disk.refused++;
        return Promise.reject(FULL);
      };
    },
  });
  const bench = await openLocalBench(() => openMemoryRecord(store));
  await test(bench, disk);
  await bench.close();
}

describe("a run whose ending does not fit on the disk", () => {
  it("ends as failed once there is room, if a caller already got the failure", async () => {
    await withDisk(async (bench, disk) => {
      const engine = bench.engine();
      let calls = 0;
      engine.define("agent", async () => {
        calls++;
        return completed("done");
      });
      await engine.submit("agent", null, RUN);
      await assert.rejects(engine.result("run_1"), { code: "store_full" });
      assert.deepEqual(await engine.start(), [], "there is no room yet");
      assert.equal((await engine.status("run_1"))?.status, "running");
      disk.isFull = false;
      assert.deepEqual(await engine.start(), ["run_1"]);
      const { ending, events } = await engine.result("run_1");
      assert.equal(ending, "failed");
      assert.ok(events[0]?.type === "run_end" && events[0].error?.code === "store_full");
      assert.equal(calls, 1);
    });
  });

  it("continues once there is room, if no caller got the failure", async () => {
    await withDisk(async (bench, disk) => {
      const engine = bench.engine();
      let calls = 0;
      engine.define("agent", async () => {
        calls++;
        return completed("done");
      });
      await engine.submit("agent", null, RUN);
      await engine.idle();
      assert.deepEqual(await engine.start(), []);
      assert.equal(calls, 1, "nothing is paid for again while there is no room");
      disk.isFull = false;
      assert.deepEqual(await engine.start(), ["run_1"]);
      assert.equal((await engine.result("run_1")).result, "done");
      assert.equal(calls, 2);
    });
  });

  it("ends as failed if its second try does not fit either", async () => {
    await withDisk(async (bench, disk) => {
      const engine = bench.engine();
      let calls = 0;
      engine.define("agent", async () => {
        calls++;
        disk.isFull = true;
        return completed("done");
      });
      await engine.submit("agent", null, RUN);
      for (let start = 0; start < 2; start++) {
        await engine.idle();
        disk.isFull = false;
        assert.deepEqual(await engine.start(), ["run_1"]);
      }
      await engine.idle();
      assert.equal((await engine.result("run_1")).ending, "failed");
      assert.deepEqual([calls, disk.refused], [2, 2]);
    });
  });

  it("ends with everything below it", async () => {
    await withDisk(async (bench, disk) => {
      const engine = bench.engine();
      let calls = 0;
      engine.define("child", async (context) => {
        calls++;
        return await new Promise((_, reject) => {
          context.signal.addEventListener("abort", () => reject(context.signal.reason));
        });
      });
      engine.define("agent", async (context) => {
        await context.child("a", "child", null);
        return completed("done");
      });
      await engine.submit("agent", null, RUN);
      await assert.rejects(engine.result("run_1"), { code: "store_full" });
      await until(() => calls === 1);
      disk.isFull = false;
      await engine.start();
      assert.equal((await engine.result("run_1")).ending, "failed");
      assert.equal((await engine.result("run_1/a")).ending, "cancelled");
      assert.equal(calls, 1);
    });
  });
});

it("is forgotten once another process has ended it after its second try here", async () => {
  const runs = createBrokenRuns();
  const asked: string[] = [];
  let status: "running" | "ended" = "running";
  const record = {
    async getRunStatus(id: string) {
      asked.push(id);
      return { id, epoch: 2, status } as RunStatus;
    },
  };
  runs.add("run_1", { failure: FULL, used: undefined, epoch: 1 });
  runs.take("run_1");
  await runs.tidy(record);
  // It still has had its second try.
  runs.add("run_1", { failure: FULL, used: undefined, epoch: 1 });
  assert.equal(runs.take("run_1")?.failure, FULL);
  status = "ended";
  await runs.tidy(record);
  asked.length = 0;
  await runs.tidy(record);
  assert.deepEqual(asked, []);
  runs.add("run_1", { failure: FULL, used: undefined, epoch: 1 });
  assert.equal(runs.take("run_1"), undefined, "its second try was not forgotten");
});

it("closes its record although its last sign of life is refused", async () => {
  const store = createMemoryStore();
  let isClosed = false;
  const refused = new Failure("store_failed", "The user has no right to write.");
  const own = new Proxy<Store>(store, {
    get(target, name) {
      if (name === "beat") return () => Promise.reject(refused);
      const method: unknown = Reflect.get(target, name, target);
      if (name !== "close" || typeof method !== "function") return method;
      return () => {
        isClosed = true;
        return Reflect.apply(method, target, []);
      };
    },
  });
  const engine = createLocalEngine({ store: own });
  engine.define("agent", async () => completed("done"));
  await assert.rejects(engine.submit("agent", null, RUN), { code: "store_failed" });
  await engine.stop();
  assert.ok(isClosed);
});
