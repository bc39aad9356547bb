import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { MIN_LIMIT } from "../../../src/providers/limits/adaptive-limit.ts";
import {
  createLimiter,
  type Limiter,
  type LimiterOptions,
  MAX_LIMIT,
  type Slot,
  START_LIMIT,
} from "../../../src/providers/limits/limiter.ts";
import type { ModelCall } from "../../../src/providers/provider.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/index.ts";

const NEVER = new AbortController().signal;
const CALL: ModelCall = { signal: NEVER };
const busy = (retryAfterMs?: number): Failure =>
  new Failure("provider_overloaded", "Busy.", { retryAfterMs });

function open(more: Partial<LimiterOptions> = {}): { limiter: Limiter; clock: ManualClock } {
  const clock = createManualClock();
  return { clock, limiter: createLimiter({ vendor: "test", clock, random: () => 0, ...more }) };
}

const fill = (limiter: Limiter, count = limiter.limit): Promise<Slot[]> =>
  Promise.all(Array.from({ length: count }, () => limiter.acquire(CALL)));

/** A limiter with one slot, which is taken. */
async function openFull(
  more: Partial<LimiterOptions> = {},
): Promise<{ limiter: Limiter; clock: ManualClock; slot: Slot }> {
  const { limiter, clock } = open(more);
  while (limiter.limit > 1) (await limiter.acquire(CALL)).release(busy());
  return { limiter, clock, slot: await limiter.acquire(CALL) };
}

describe("the limiter's limit", () => {
  it("lets that many calls through at once, and the next one when a call has ended", async () => {
    const { limiter, clock } = open();
    const [first] = await fill(limiter);
    assert.equal(limiter.inFlight, START_LIMIT);
    let hasTurn = false;
    const waiting = limiter.acquire(CALL).then(() => {
      hasTurn = true;
    });
    await clock.advance(0);
    assert.equal(hasTurn, false);
    assert.equal(limiter.waiting, 1);
    first?.release();
    first?.release();
    await waiting;
    assert.equal(limiter.inFlight, START_LIMIT);
    assert.equal(limiter.waiting, 0);
  });

  it("lets a hundred children ask at once, and fits a small server after a few refusals", async () => {
    const { limiter } = open();
    const slots = await Promise.all(Array.from({ length: 100 }, () => limiter.acquire(CALL)));
    assert.equal(limiter.waiting, 0);
    // All were sent under one limit, so it is halved once for all of them; then with each one that is sent.
    for (const slot of slots) slot.release(busy());
    for (let refusals = 1; limiter.limit > 4; refusals++) {
      assert.ok(refusals <= 5, `${limiter.limit} after ${refusals} refusals`);
      (await limiter.acquire(CALL)).release(busy());
    }
  });

  it("grows by one with each accepted call while it is used up, up to its bound", async () => {
    const { limiter } = open();
    for (let limit = START_LIMIT; limit < MAX_LIMIT + 3; limit++) {
      assert.equal(limiter.limit, Math.min(limit, MAX_LIMIT));
      const slots = await fill(limiter);
      for (const slot of slots) slot.accept();
      for (const slot of slots) slot.release();
    }
  });

  it("lets a waiting call through as soon as it has grown", async () => {
    const { limiter } = open();
    const [first] = await fill(limiter);
    const waiting = limiter.acquire(CALL);
    first?.accept();
    first?.accept();
    await waiting;
    assert.equal(limiter.inFlight, START_LIMIT + 1);
  });

  it("does not grow while it is not reached", async () => {
    const { limiter } = open();
    for (let count = 0; count < 100; count++) {
      const slot = await limiter.acquire(CALL);
      slot.accept();
      slot.release();
    }
    assert.equal(limiter.limit, START_LIMIT);
  });

  it("is halved once for all calls that were in flight together, and never below its bound", async () => {
    const { limiter } = open();
    for (const slot of await fill(limiter)) slot.release(busy());
    assert.equal(limiter.limit, START_LIMIT / 2);
    for (const slot of await fill(limiter)) slot.release(busy());
    assert.equal(limiter.limit, START_LIMIT / 4);
    for (let count = 0; count < 10; count++) (await limiter.acquire(CALL)).release(busy());
    assert.equal(limiter.limit, MIN_LIMIT);
  });

  it("then grows by one each time that all of it was used", async () => {
    const { limiter } = open();
    (await limiter.acquire(CALL)).release(busy());
    const half = START_LIMIT / 2;
    for (const [more, limit] of [half, half + 1, half + 2].entries()) {
      assert.equal(limiter.limit, half + more);
      for (let count = 0; count <= limit; count++) {
        const slots = await fill(limiter);
        slots[0]?.accept();
        for (const slot of slots) slot.release();
      }
    }
  });

  it("does not shrink after failures of another kind", async () => {
    const { limiter } = open();
    for (const slot of await fill(limiter)) slot.release(new Failure("provider_failed", "500"));
    assert.equal(limiter.limit, START_LIMIT);
    assert.equal(limiter.inFlight, 0);
  });

  it("knows whether the vendor has accepted a call recently", async () => {
    const { limiter, clock } = open();
    assert.equal(limiter.isAnswering, false);
    (await limiter.acquire(CALL)).accept();
    assert.equal(limiter.isAnswering, true);
    await clock.advance(60_001);
    assert.equal(limiter.isAnswering, false);
  });
});

describe("the limiter's pause", () => {
  it("is for all calls, waiting and new, with jitter", async () => {
    const { limiter, clock } = open({ random: () => 0.5 });
    const slots = await fill(limiter);
    const granted: string[] = [];
    const enter = (name: string): void => {
      limiter.acquire(CALL).then(() => granted.push(name));
    };
    enter("before");
    for (const slot of slots) slot.release(busy(2000));
    enter("after");
    assert.equal(limiter.inFlight, 0);
    await clock.advance(2099);
    assert.deepEqual(granted, []);
    assert.equal(limiter.isPaused, true);
    await clock.advance(1);
    assert.deepEqual(granted, ["before", "after"]);
    assert.equal(limiter.isPaused, false);
  });

  it("ends for waiting calls when its time has passed", async () => {
    const { limiter, clock } = open();
    limiter.pause(2000);
    const granted: number[] = [];
    for (const id of [1, 2]) limiter.acquire(CALL).then(() => granted.push(id));
    await clock.advance(1999);
    assert.deepEqual(granted, []);
    await clock.advance(1);
    assert.deepEqual(granted, [1, 2]);
    assert.equal(clock.sleeping, 0);
  });

  it("becomes longer, never shorter", async () => {
    const { limiter, clock } = open();
    let grantedAtMs = 0;
    limiter.pause(1000);
    limiter.acquire(CALL).then(() => {
      grantedAtMs = clock.now();
    });
    await clock.advance(500);
    limiter.pause(2000);
    limiter.pause(10);
    limiter.pause(0);
    limiter.pause(Number.NaN);
    await clock.advance(5000);
    assert.equal(grantedAtMs, 2500);
  });

  it("ends also if time passes between two readings of the clock", async () => {
    for (let pauseMs = 1; pauseMs < 12; pauseMs++) {
      const manual = createManualClock();
      let readings = 0;
      const clock = { ...manual, now: () => manual.now() + readings++ };
      const { limiter } = open({ clock });
      limiter.pause(pauseMs);
      const turn = limiter.acquire(CALL);
      await manual.advance(100);
      assert.equal(limiter.inFlight, 1, `a pause of ${pauseMs} ms did not end`);
      (await turn).release();
    }
  });

  it("ends first for calls that waited", async () => {
    const { limiter, clock, slot } = await openFull();
    slot.release();
    const served: string[] = [];
    const enter = async (name: string): Promise<void> => {
      const held = await limiter.acquire(CALL);
      served.push(name);
      held.release();
    };
    const late = clock.sleep(1000, undefined).then(() => enter("late"));
    limiter.pause(1000);
    const early = enter("early");
    await clock.advance(1000);
    await Promise.all([late, early]);
    assert.deepEqual(served, ["early", "late"]);
  });

  it("of an hour is not waited for, until a minute of it is left", async () => {
    const { limiter, clock } = open();
    const slot = await limiter.acquire(CALL);
    limiter.pause(1000);
    const waiting = assert.rejects(limiter.acquire(CALL), {
      code: "provider_overloaded",
      message: /test asks to wait 3600 s/,
      retryAfterMs: 3_600_000,
    });
    slot.release(busy(3_600_000));
    await waiting;
    assert.equal(clock.sleeping, 0);
    limiter.pause(10);
    await assert.rejects(limiter.acquire(CALL), /asks to wait 3600 s/);
    await clock.advance(3_540_000);
    const later = limiter.acquire(CALL);
    await clock.advance(60_000);
    (await later).release();
  });
});

describe("a call that another deployment can answer", () => {
  it("does not wait: not for a slot, and not for the end of a pause", async () => {
    const call = { ...CALL, hasOthers: true };
    const { limiter, slot } = await openFull();
    await assert.rejects(limiter.acquire(call), { code: "provider_overloaded" });
    assert.equal(limiter.waiting, 0);
    limiter.pause(2000);
    slot.release();
    await assert.rejects(limiter.acquire(call), { retryAfterMs: 2000 });
  });
});

describe("the limiter's queue", () => {
  /** Acquires in that order, then serves one after the other. */
  async function orderOf(runs: readonly (string | undefined)[]): Promise<string[]> {
    const { limiter, slot } = await openFull();
    const served: string[] = [];
    const calls = runs.map(async (run, index) => {
      const held = await limiter.acquire({ signal: NEVER, run });
      served.push(`${run ?? "-"}${index}`);
      held.release();
    });
    slot.release();
    await Promise.all(calls);
    return served;
  }

  it("lets runs take turns, whatever the number of their calls", async () => {
    assert.deepEqual(await orderOf(["a", "a", "a", "b", "c", "b"]), [
      "a0",
      "b3",
      "c4",
      "a1",
      "b5",
      "a2",
    ]);
  });

  it("lets tenants take turns, and the runs of each in its turns", async () => {
    const { limiter, slot } = await openFull();
    const served: string[] = [];
    const serve = async (owner: string, run: string): Promise<void> => {
      const held = await limiter.acquire({ signal: NEVER, owner, run });
      served.push(run);
      held.release();
    };
    const calls = ["1", "1", "2", "3"].map((run) => serve("many", run));
    calls.push(serve("one", "one"));
    slot.release();
    await Promise.all(calls);
    assert.deepEqual(served, ["1", "one", "2", "3", "1"]);
  });

  it("takes a call without a run for a run of its own", async () => {
    assert.deepEqual(await orderOf(["a", "a", undefined, undefined]), ["a0", "-2", "-3", "a1"]);
  });

  it("is left without a trace if the call is aborted", async () => {
    const { limiter, clock, slot } = await openFull();
    limiter.pause(5000);
    const aborts = Array.from({ length: 3 }, () => new AbortController());
    const notices: string[] = [];
    const notice: ModelCall["notice"] = ({ message }) => notices.push(message);
    const calls = aborts.map(({ signal }, index) =>
      limiter.acquire({ signal, run: `run-${index}`, notice }),
    );
    const [first, second, third] = calls;
    aborts[0]?.abort(new Failure("timeout", "Too late."));
    aborts[2]?.abort();
    await assert.rejects(first ?? Promise.resolve(), { code: "timeout" });
    await assert.rejects(third ?? Promise.resolve(), { code: "cancelled" });
    assert.equal(limiter.waiting, 1);
    slot.release();
    await clock.advance(5000);
    (await second)?.release();
    for (const { signal } of aborts) assert.equal(getEventListeners(signal, "abort").length, 0);
    assert.equal(clock.sleeping, 0);
    assert.equal(limiter.inFlight, 0);
    assert.equal(notices.length, 1);
  });

  it("has no timer after the last one leaves", async () => {
    const { limiter, clock } = open();
    limiter.pause(5000);
    const abort = new AbortController();
    const waiting = limiter.acquire({ signal: abort.signal, notice() {} });
    assert.equal(clock.sleeping, 2);
    abort.abort();
    await assert.rejects(waiting, { code: "cancelled" });
    assert.equal(clock.sleeping, 0);
    await assert.rejects(limiter.acquire({ signal: abort.signal }), { code: "cancelled" });
  });

  it("tells waiting calls how many are ahead, after a moment and now and then", async () => {
    const { limiter, clock, slot } = await openFull();
    const notices: string[] = [];
    const held = [limiter.acquire({ signal: NEVER, run: "a" })];
    held.push(limiter.acquire({ signal: NEVER, run: "a" }));
    const notice: ModelCall["notice"] = ({ code, message }) => notices.push(`${code}: ${message}`);
    held.push(limiter.acquire({ signal: NEVER, run: "b", notice }));
    await clock.advance(999);
    assert.deepEqual(notices, []);
    await clock.advance(1);
    limiter.pause(20_000);
    await clock.advance(15_000);
    assert.deepEqual(notices, [
      "wait: Waiting for test for 1 s: 1 call ahead, 1 at work.",
      "wait: Waiting for test for 16 s: 1 call ahead, 1 at work. It asks to wait 5 s more.",
    ]);
    slot.release();
    for (const turn of held) turn.then((taken) => taken.release());
    await clock.advance(60_000);
    assert.equal(limiter.waiting, 0);
    assert.equal(notices.length, 2);
  });

  it("drops a call whose notice fails", async () => {
    const { limiter, clock, slot } = await openFull();
    const waiting = assert.rejects(
      limiter.acquire({
        signal: NEVER,
        notice() {
          throw new Failure("store_failed", "Full.");
        },
      }),
      { code: "store_failed" },
    );
    await clock.advance(1000);
    await waiting;
    assert.equal(limiter.waiting, 0);
    slot.release();
  });
});
