import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createHeartbeat,
  createLiveness,
  createRhythm,
  type Life,
  type MachineFacts,
} from "../../src/engine/worker.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { LEASE_MS, type Worker } from "../../src/store/ownership.ts";
import { createManualClock } from "./manual-clock.ts";

const HERE = { host: "here", boot: "boot-1/5", pid_namespace: "4026", started: "77", pid: 10 };

/** A machine with one process, number 10, and a monotonic clock that the test turns. */
function createSurroundings(more: Partial<MachineFacts> = {}) {
  let nowMs = 1_000_000;
  const around: MachineFacts = {
    host: "here",
    boot: "boot-1/5",
    pidNamespace: "4026",
    pid: 10,
    monotonicMs: () => nowMs,
    startTimeOf: (pid) => (pid === 10 ? "77" : ""),
    hasProcess: (pid) => pid === 10,
    ...more,
  };
  return { around, advance: (ms: number) => (nowMs += ms) };
}

function toWorker(more: Partial<Worker>): Worker {
  return { id: "w", ...HERE, beat_at_ms: 1, beat_ms: 1_000_000, ...more };
}

describe("whether a worker lives", () => {
  const old = 1_000_000 - LEASE_MS - 1;
  const cases: [string, Partial<Worker>, Life][] = [
    ["one of this boot that beats", {}, "alive"],
    ["one that missed some beats", { beat_ms: 1_000_000 - LEASE_MS }, "alive"],
    ["one that is silent and there, stopped or held up", { beat_ms: old }, "alive"],
    ["one that is gone", { pid: 11, started: "5" }, "dead"],
    ["one whose number another process has now", { started: "5" }, "dead"],
    ["one that said farewell", { beat_at_ms: 0 }, "dead"],
    ["one whose wall clock is an hour ahead", { beat_at_ms: 3_600_000 }, "alive"],
    ["one whose wall clock is 40 days behind", { beat_at_ms: -40 * 86_400_000 }, "alive"],
    ["one of another PID namespace that beats", { pid_namespace: "9", pid: 2 }, "alive"],
    ["one of another PID namespace, silent", { pid_namespace: "9", pid: 2, beat_ms: old }, "dead"],
    ["one of another PID namespace with our number", { pid_namespace: "9", started: "5" }, "alive"],
    ["one of another machine, seen once", { host: "there", boot: "boot-2/5", pid: 2 }, "unsure"],
    ["one of another machine of our name", { boot: "boot-2/5", pid: 2, beat_ms: old }, "unsure"],
    ["one that says nothing of its boot", { boot: "", pid_namespace: "", pid: 2 }, "unsure"],
  ];
  for (const [what, worker, life] of cases) {
    it(`is ${life}: ${what}`, () => {
      assert.equal(createLiveness(createSurroundings().around)(toWorker(worker)), life);
    });
  }

  it("is recognised by a beat that changes, if clocks cannot be compared", () => {
    const { around, advance } = createSurroundings();
    const lifeOf = createLiveness(around);
    const far = { boot: "boot-2/5", host: "there" };
    const lives: Life[] = [];
    for (let beat = 1; beat <= 3; beat++) {
      lives.push(lifeOf(toWorker({ ...far, beat_ms: beat })));
      advance(LEASE_MS);
    }
    lives.push(lifeOf(toWorker({ ...far, beat_ms: 3 })));
    advance(1);
    lives.push(lifeOf(toWorker({ ...far, beat_ms: 3 })));
    assert.deepEqual(lives, ["unsure", "alive", "alive", "unsure", "dead"]);
  });

  it("is not judged by its silence while no process could write", async () => {
    const { around, advance } = createSurroundings();
    const store = createMemoryStore();
    const rhythm = createRhythm();
    const heartbeat = createHeartbeat(store, createManualClock(), "me", { around, rhythm });
    const lifeOf = createLiveness(around, undefined, rhythm);
    const other = toWorker({ pid_namespace: "9", pid: 2 });
    await heartbeat.begin();
    advance(LEASE_MS + 5000);
    assert.equal(lifeOf(other), "alive", "this one could not beat either");
    // The file is free again, and this process is the first to write.
    await heartbeat.renew();
    assert.equal(lifeOf(other), "alive", "the other one has had no time yet");
    for (let second = 0; second <= LEASE_MS / 1000; second++) {
      advance(1000);
      await heartbeat.renew();
    }
    heartbeat.pause();
    assert.equal(lifeOf(other), "dead");
  });

  it("is judged by the clock of a record that has one, to the millisecond", () => {
    const lifeOf = createLiveness(createSurroundings().around);
    // Its process exists, and may be stopped.
    assert.equal(lifeOf(toWorker({ silent_ms: LEASE_MS })), "alive");
    assert.equal(lifeOf(toWorker({ silent_ms: LEASE_MS + 1 })), "dead");
  });

  it("is not judged by its silence while the database was away", () => {
    const { around, advance } = createSurroundings();
    const rhythm = createRhythm();
    const lifeOf = createLiveness(around, undefined, rhythm);
    const beat = (ms: number): void => {
      advance(ms);
      rhythm.beaten(around.monotonicMs());
    };
    const AWAY_MS = 2 * LEASE_MS;
    for (let second = 0; second < 5; second++) beat(1000);
    advance(AWAY_MS);
    assert.equal(lifeOf(toWorker({ silent_ms: AWAY_MS + 500 })), "alive", "it is away still");
    beat(0);
    assert.equal(lifeOf(toWorker({ silent_ms: AWAY_MS + 500 })), "alive", "it is back");
    // An owner that fell silent 2 seconds before: that time counts, and what comes after.
    beat(1000);
    const silent_ms = 2000 + AWAY_MS + 1000;
    assert.equal(lifeOf(toWorker({ silent_ms })), "alive");
    for (let second = 0; second < 7; second++) beat(1000);
    assert.equal(lifeOf(toWorker({ silent_ms: silent_ms + 7000 })), "alive");
    beat(1);
    assert.equal(lifeOf(toWorker({ silent_ms: silent_ms + 7001 })), "dead");
  });

  it("is judged just as soon by a process that did not beat for a while", () => {
    const { around, advance } = createSurroundings();
    const rhythm = createRhythm();
    rhythm.beaten(around.monotonicMs());
    rhythm.paused();
    advance(60_000);
    const lifeOf = createLiveness(around, undefined, rhythm);
    assert.equal(lifeOf(toWorker({ silent_ms: LEASE_MS + 1 })), "dead");
    rhythm.beaten(around.monotonicMs());
    assert.equal(lifeOf(toWorker({ silent_ms: LEASE_MS + 1 })), "dead");
  });

  it("is recognised by its process id on one host, if the system has no boot id", () => {
    const { around } = createSurroundings({ boot: "", pidNamespace: "", startTimeOf: () => "" });
    const lifeOf = createLiveness(around);
    const untold = { boot: "", pid_namespace: "", started: "" };
    assert.equal(lifeOf(toWorker({ ...untold, id: "gone", pid: 2 })), "dead");
    assert.equal(lifeOf(toWorker({ ...untold, id: "there" })), "unsure");
    assert.equal(lifeOf(toWorker({ ...untold, id: "far", host: "there", pid: 2 })), "unsure");
  });

  it("does not change with any step of the wall clock", async () => {
    const store = createMemoryStore();
    const clock = createManualClock();
    const { around, advance } = createSurroundings();
    const lifeOf = createLiveness(around);
    const heartbeat = createHeartbeat(store, clock, "w", { around });
    await heartbeat.begin();
    for (const step of [3_600_000, -7_200_000, 40 * 86_400_000, -80 * 86_400_000]) {
      clock.advance(step);
      advance(500);
      const worker = await store.getWorker("w");
      assert.equal(worker && lifeOf(worker), "alive", `after ${step} ms`);
    }
    heartbeat.pause();
  });

  it("ends with its farewell", async () => {
    const store = createMemoryStore();
    const clock = createManualClock();
    const lifeOf = createLiveness();
    const heartbeat = createHeartbeat(store, clock, "w");
    assert.equal(await store.getWorker("w"), undefined);
    await heartbeat.begin();
    const beating = await store.getWorker("w");
    assert.equal(beating && lifeOf(beating), "alive");
    await heartbeat.end();
    const gone = await store.getWorker("w");
    assert.equal(gone && lifeOf(gone), "dead");
  });
});
