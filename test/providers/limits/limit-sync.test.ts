import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { createLimitSync, type LimitSync } from "../../../src/providers/limits/limit-sync.ts";
import type { Limiter, Slot } from "../../../src/providers/limits/limiter.ts";
import { createLimiters } from "../../../src/providers/limits/limiters.ts";
import type { ModelCall } from "../../../src/providers/provider.ts";
import { createMemoryLimits } from "../../../src/store/memory/memory-limits.ts";
import type { LimitReport, VendorLimits } from "../../../src/store/vendor-limits.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/index.ts";

const ACCOUNT = { vendor: "test", baseUrl: "https://a.example/v1", key: "sk-very-secret" };
const CALL: ModelCall = { signal: new AbortController().signal };
const busy = (retryAfterMs?: number): Failure =>
  new Failure("provider_overloaded", "Busy.", { retryAfterMs });

interface Opened {
  readonly clock: ManualClock;
  readonly limiters: readonly Limiter[];
  readonly syncs: readonly LimitSync[];
  /** The reports, in order. */
  readonly reports: LimitReport[];
  /** The answer of the record; correct unless a test replaces it. */
  answer: VendorLimits["exchange"];
}

/** Processes that share an account. */
function open(count: number, startLimit = 8): Opened {
  const clock = createManualClock();
  const memory = createMemoryLimits(clock);
  const reports: LimitReport[] = [];
  const opened = { clock, reports, answer: memory.exchange };
  const limits: VendorLimits = {
    exchange(process, said) {
      reports.push(...said);
      return opened.answer(process, said);
    },
  };
  const syncs = Array.from({ length: count }, (_, at) =>
    createLimitSync({ limits, self: `p${at}`, clock }),
  );
  const limiters = syncs.map((sync) =>
    createLimiters({ clock, random: () => 0, startLimit }, sync).of(ACCOUNT),
  );
  return Object.assign(opened, { limiters, syncs });
}

/** Uses every limiter once, so that all know each other. */
async function meet({ limiters, clock }: Opened): Promise<void> {
  for (const limiter of limiters) (await limiter.acquire(CALL)).release();
  await pass(clock, 2000);
}

/** Work that has begun continues before the clock moves. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  await clock.advance(0);
  await clock.advance(ms);
}

describe("limiters of several processes", () => {
  it("divide the limit by what each needs", async () => {
    const opened = open(2);
    const { clock, limiters } = opened;
    const [first, second] = limiters as [Limiter, Limiter];
    await meet(opened);
    assert.deepEqual([first.limit, second.limit], [4, 4]);
    const slots: Slot[] = [];
    const many = Array.from({ length: 24 }, () =>
      first.acquire(CALL).then((slot) => slots.push(slot)),
    );
    const some = Array.from({ length: 8 }, () =>
      second.acquire(CALL).then((slot) => slots.push(slot)),
    );
    await pass(clock, 2000);
    assert.deepEqual([first.limit, second.limit], [6, 2]);
    while (slots.length > 0) {
      for (const slot of slots.splice(0)) slot.release();
      await clock.advance(0);
    }
    await Promise.all([...many, ...some]);
    await pass(clock, 2000);
    assert.deepEqual([first.limit, second.limit], [4, 4]);
  });

  it("ask for more as soon as one of them needs it", async () => {
    const opened = open(2);
    const [first] = opened.limiters as [Limiter, Limiter];
    await meet(opened);
    for (let at = 0; at < 8; at++) void first.acquire(CALL);
    assert.equal(first.inFlight, 4);
    await pass(opened.clock, 100);
    assert.deepEqual([first.inFlight, first.waiting], [8, 0]);
  });

  it("are all refused if one of them is, and once", async () => {
    const opened = open(3, 12);
    const [first, second] = opened.limiters as [Limiter, Limiter, Limiter];
    await meet(opened);
    const slots = [await first.acquire(CALL), await second.acquire(CALL)];
    for (const slot of slots) slot.release(busy());
    await pass(opened.clock, 1000);
    assert.deepEqual(
      opened.limiters.map(({ limit }) => limit),
      [2, 2, 2],
    );
  });

  it("obey within a second a wait that the vendor asks one of them for", async () => {
    const opened = open(2);
    const [first, second] = opened.limiters as [Limiter, Limiter];
    await meet(opened);
    first.pause(20_000);
    await pass(opened.clock, 1000);
    assert.deepEqual([first.isPaused, second.isPaused], [true, true]);
    await pass(opened.clock, 18_000);
    assert.equal(second.isPaused, true);
    await pass(opened.clock, 1000);
    assert.deepEqual([first.isPaused, second.isPaused], [false, false]);
  });

  it("find a limit for all of them together, from any start", async () => {
    const opened = open(3, 64);
    const vendor = createVendor(opened.clock, 4);
    for (const limiter of opened.limiters) for (let at = 0; at < 20; at++) vendor.use(limiter);
    await pass(opened.clock, 30_000);
    vendor.most = 0;
    vendor.refused = 0;
    vendor.taken = 0;
    vendor.takenOf = [];
    await pass(opened.clock, 60_000);
    assert.ok(vendor.most <= 4 + 3, `${vendor.most} at once`);
    // Each alone would be refused more than 300 times, because each would try more calls by itself.
    assert.ok(vendor.refused < 80, `${vendor.refused} were refused`);
    assert.ok(vendor.taken > 350, `only ${vendor.taken} of 480 were taken`);
    assert.ok(Math.min(...vendor.takenOf) > 100, `one of them starves: ${vendor.takenOf}`);
  });

  it("continue alone while no other answers, and together again afterwards", async () => {
    const opened = open(2);
    const { answer } = opened;
    const [first, second] = opened.limiters as [Limiter, Limiter];
    await meet(opened);
    const slot = await first.acquire(CALL);
    opened.answer = () => new Promise(() => {});
    await pass(opened.clock, 7000);
    assert.equal(first.limit, 8);
    assert.equal(second.limit, 8);
    slot.release();
    assert.equal((await first.acquire(CALL)) !== undefined, true);
    const other = open(2);
    await meet(other);
    other.answer = async () => {
      throw new Failure("store_busy", "It does not answer.");
    };
    await pass(other.clock, 1000);
    assert.deepEqual(
      other.limiters.map(({ limit }) => limit),
      [8, 8],
    );
    other.answer = answer;
    await pass(other.clock, 2000);
    assert.deepEqual(
      other.limiters.map(({ limit }) => limit),
      [4, 4],
    );
  });

  it("report a wait again if the report was lost", async () => {
    const opened = open(2);
    const [first, second] = opened.limiters as [Limiter, Limiter];
    await meet(opened);
    const { answer } = opened;
    opened.answer = async () => {
      throw new Failure("store_busy", "It does not answer.");
    };
    first.pause(20_000);
    await pass(opened.clock, 1000);
    assert.equal(second.isPaused, false);
    opened.answer = answer;
    await pass(opened.clock, 2000);
    assert.equal(second.isPaused, true);
  });

  it("exchange once a second while there are calls, and not at all after a while without", async () => {
    const { clock, limiters, reports } = open(1);
    const [limiter] = limiters as [Limiter];
    assert.deepEqual([reports.length, clock.sleeping], [0, 0]);
    const slot = await limiter.acquire(CALL);
    await pass(clock, 10_000);
    assert.ok(reports.length >= 10 && reports.length <= 12, `${reports.length} in ten seconds`);
    slot.release();
    await pass(clock, 60_000);
    const asked = reports.length;
    await pass(clock, 600_000);
    assert.deepEqual([reports.length, clock.sleeping], [asked, 0]);
    (await limiter.acquire(CALL)).release();
    await clock.advance(0);
    assert.equal(reports.length, asked + 1);
  });

  it("report nothing after they are closed, and name no key", async () => {
    const { clock, limiters, syncs, reports } = open(1);
    const [limiter] = limiters as [Limiter];
    (await limiter.acquire(CALL)).release();
    await clock.advance(0);
    for (const sync of syncs) sync.close();
    await pass(clock, 5000);
    (await limiter.acquire(CALL)).release();
    await pass(clock, 5000);
    assert.deepEqual([reports.length, clock.sleeping], [1, 0]);
    assert.match(reports[0]?.account ?? "", /^[0-9a-f]{64}$/);
  });
});

/** Accepts that many calls at once, for half a second each, and refuses others soon. */
function createVendor(clock: ManualClock, atOnce: number) {
  const vendor = { open: 0, most: 0, refused: 0, taken: 0, takenOf: [] as number[], use };
  const known: Limiter[] = [];
  /** A caller that calls repeatedly. */
  function use(limiter: Limiter): void {
    if (!known.includes(limiter)) known.push(limiter);
    void call(limiter, known.indexOf(limiter));
  }
  async function call(limiter: Limiter, at: number): Promise<void> {
    for (;;) {
      const slot = await limiter.acquire(CALL);
      vendor.open++;
      vendor.most = Math.max(vendor.most, vendor.open);
      await (vendor.open <= atOnce ? take(slot, at) : refuse(slot));
    }
  }
  async function take(slot: Slot, at: number): Promise<void> {
    await clock.sleep(500, undefined);
    vendor.open--;
    vendor.taken++;
    vendor.takenOf[at] = (vendor.takenOf[at] ?? 0) + 1;
    slot.accept();
    slot.release();
  }
  async function refuse(slot: Slot): Promise<void> {
    await clock.sleep(20, undefined);
    vendor.open--;
    vendor.refused++;
    slot.release(busy());
    await clock.sleep(500, undefined);
  }
  return vendor;
}
