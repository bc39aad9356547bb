import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLease, createTerm } from "../../src/engine/lease.ts";
import { createHeartbeat, readSurroundings } from "../../src/engine/worker.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { LEASE_MS } from "../../src/store/ownership.ts";
import { createManualClock } from "./manual-clock.ts";

function createClocks() {
  const clock = createManualClock();
  let monotonic = 1000;
  return {
    clock,
    monotonicMs: () => monotonic,
    work: (ms: number) => {
      clock.advance(ms);
      monotonic += ms;
    },
    sleep: (ms: number) => clock.advance(ms),
    setBack: (ms: number) => {
      clock.advance(-ms);
      monotonic += ms;
    },
  };
}

describe("the lease of a process", () => {
  it("is sure from its first beat until half of it is over", () => {
    const { clock, monotonicMs, work } = createClocks();
    const lease = createLease(clock, monotonicMs);
    assert.equal(lease.isSure, false);
    lease.renewed(lease.now());
    work(LEASE_MS / 2);
    assert.equal(lease.isSure, true);
    work(1);
    assert.equal(lease.isSure, false);
  });

  it("counts from when a beat was sent, and not from its answer", () => {
    const { clock, monotonicMs, work } = createClocks();
    const lease = createLease(clock, monotonicMs);
    const sent = lease.now();
    work(LEASE_MS);
    lease.renewed(sent);
    assert.equal(lease.isSure, false);
  });

  it("is over after a machine slept, even if its wall clock was set back meanwhile", () => {
    for (const pass of ["sleep", "setBack"] as const) {
      const clocks = createClocks();
      const lease = createLease(clocks.clock, clocks.monotonicMs);
      lease.renewed(lease.now());
      clocks[pass](LEASE_MS);
      assert.equal(lease.isSure, false, pass);
    }
  });

  it("begins a new term with a beat after a gap, and with no other", () => {
    const { clock, monotonicMs, work } = createClocks();
    const lease = createLease(clock, monotonicMs);
    const gaps = [1000, 1000, LEASE_MS, 1000].map((ms) => {
      work(ms);
      return lease.renewed(lease.now());
    });
    assert.deepEqual(gaps, [false, false, true, false]);
    assert.equal(lease.term, 1);
  });
});

describe("the term of a run", () => {
  it("is checked after a gap even if a beat has come since", async () => {
    const { clock, monotonicMs, work } = createClocks();
    const around = { ...readSurroundings(), monotonicMs };
    const gaps: number[] = [];
    const onGap = (): void => void gaps.push(clock.now());
    const heartbeat = createHeartbeat(createMemoryStore(), clock, "me", { around, onGap });
    await heartbeat.begin();
    heartbeat.pause();
    const term = createTerm(heartbeat);
    let checks = 0;
    const check = async (): Promise<void> => void checks++;
    await term.confirm(check);
    work(LEASE_MS);
    await heartbeat.renew();
    assert.equal(heartbeat.lease.isSure, true);
    await term.confirm(check);
    await term.confirm(check);
    assert.deepEqual([checks, gaps.length], [1, 1]);
  });

  it("is checked again if the record did not answer", async () => {
    const { clock, monotonicMs, work } = createClocks();
    const lease = createLease(clock, monotonicMs);
    const renew = async (): Promise<void> => void lease.renewed(lease.now());
    await renew();
    const term = createTerm({ lease, renew });
    work(LEASE_MS);
    await assert.rejects(
      term.confirm(() => Promise.reject(new Error("away"))),
      /away/,
    );
    let isChecked = false;
    await term.confirm(async () => {
      isChecked = true;
    });
    assert.equal(isChecked, true);
  });
});
