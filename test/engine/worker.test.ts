import assert from "node:assert/strict";
import { hostname } from "node:os";
import { describe, it } from "node:test";
import { createHeartbeat, createLiveness } from "../../src/engine/worker.ts";
import { createMemoryStore } from "../../src/store/memory-store.ts";
import { createManualClock } from "./manual-clock.ts";

/** Above the largest number a process can have. */
const NO_PID = 2 ** 30;

describe("worker", () => {
  const cases = [
    { name: "a process of this host that beats", host: hostname(), pid: process.pid, age: 0 },
    { name: "one that missed some beats", host: hostname(), pid: process.pid, age: 10_000 },
    {
      name: "one that missed too many",
      host: hostname(),
      pid: process.pid,
      age: 10_001,
      dead: true,
    },
    { name: "a process that is gone, at once", host: hostname(), pid: NO_PID, age: 0, dead: true },
    { name: "a process of another host that beats", host: "elsewhere", pid: NO_PID, age: 0 },
    {
      name: "one of another host that is silent",
      host: "elsewhere",
      pid: 1,
      age: 10_001,
      dead: true,
    },
  ];
  for (const { name, host, pid, age, dead = false } of cases) {
    it(`takes for ${dead ? "dead" : "alive"}: ${name}`, () => {
      const clock = createManualClock();
      const isAlive = createLiveness(clock);
      assert.equal(isAlive({ id: "w", host, pid, beat_at_ms: clock.now() - age }), !dead);
    });
  }

  it("is alive from its first beat on and dead from its farewell", async () => {
    const [store, clock] = [createMemoryStore(), createManualClock()];
    const isAlive = createLiveness(clock);
    const heartbeat = createHeartbeat(store, clock, "w");
    assert.equal(await store.getWorker("w"), undefined);
    await heartbeat.begin();
    const beating = await store.getWorker("w");
    assert.ok(beating && isAlive(beating));
    await heartbeat.end();
    const gone = await store.getWorker("w");
    assert.ok(gone && !isAlive(gone));
  });
});
