import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAILURES, Failure, type FailureCode } from "../../src/base/failure.ts";
import { MODEL_RETRY, type Retrying, retry } from "../../src/base/retry.ts";
import { createManualClock, type ManualClock } from "../../src/testing/manual-clock.ts";

interface Trial {
  readonly clock: ManualClock;
  readonly waits: number[];
  readonly retrying: Retrying;
}

function setUp(random: () => number = () => 1, signal = new AbortController().signal): Trial {
  const clock = createManualClock();
  const waits: number[] = [];
  const policy = { attempts: 4, baseMs: 100, maxMs: 250, maxRetryAfterMs: 5000 };
  const onRetry: Retrying["onRetry"] = (_, waitMs) => void waits.push(waitMs);
  return { clock, waits, retrying: { policy, clock, random, signal, onRetry } };
}

/** Fails with the failures in order, then gives `done`. */
function failing(...failures: readonly unknown[]): { run: () => Promise<string>; tries: number } {
  const counted = {
    tries: 0,
    async run() {
      const failure = failures[counted.tries++];
      if (failure !== undefined) throw failure;
      return "done";
    },
  };
  return counted;
}

/** Waits until the code under test waits, then advances the clock. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  await clock.advance(0);
  await clock.advance(ms);
}

const busy = (retryAfterMs?: number): Failure =>
  new Failure("provider_overloaded", "busy", { retryAfterMs });

describe("retry", () => {
  it("gives the first success without a wait", async () => {
    const { clock, retrying } = setUp();
    assert.equal(await retry(failing().run, () => retrying), "done");
    assert.equal(clock.sleeping, 0);
  });

  it("waits twice as long each time, at most the longest wait", async () => {
    const { clock, waits, retrying } = setUp();
    const attempt = failing(busy(), busy(), busy());
    const result = retry(attempt.run, () => retrying);
    await pass(clock, 100 + 200 + 250);
    assert.equal(await result, "done");
    assert.deepEqual(waits, [100, 200, 250]);
  });

  it("draws each wait from nothing up to the whole of it", async () => {
    for (const [chance, expected] of [
      [0, [0, 0, 0]],
      [0.5, [50, 100, 125]],
      [0.999, [99.9, 199.8, 249.75]],
    ] as const) {
      const { clock, waits, retrying } = setUp(() => chance);
      const result = retry(failing(busy(), busy(), busy()).run, () => retrying);
      await pass(clock, 1000);
      await result;
      assert.deepEqual(waits, expected);
    }
  });

  it("waits as long as the other side asked, longer than its own longest wait too", async () => {
    const { clock, waits, retrying } = setUp();
    const attempt = failing(busy(4000), busy(0));
    const result = retry(attempt.run, () => retrying);
    await pass(clock, 3999);
    assert.equal(attempt.tries, 1);
    await pass(clock, 1);
    assert.equal(await result, "done");
    assert.deepEqual(waits, [4000, 0]);
  });

  it("fails at once when it is asked to wait too long", async () => {
    const { clock, waits, retrying } = setUp();
    await assert.rejects(
      retry(failing(busy(5001)).run, () => retrying),
      { retryAfterMs: 5001 },
    );
    assert.deepEqual([waits, clock.sleeping], [[], 0]);
  });

  it("gives up after the last try, with the last failure", async () => {
    const { clock, retrying } = setUp();
    const attempt = failing(busy(), busy(), busy(), new Failure("provider_failed", "the fourth"));
    const result = assert.rejects(
      retry(attempt.run, () => retrying),
      /the fourth/,
    );
    await pass(clock, 10_000);
    await result;
    assert.equal(attempt.tries, 4);
  });

  it("tries again what the table calls retryable, and nothing else", async () => {
    for (const [code, { retryable }] of Object.entries(FAILURES)) {
      const { clock, retrying } = setUp();
      const attempt = failing(new Failure(code as FailureCode, "no"));
      const result = retry(attempt.run, () => retrying).catch(() => "failed");
      await pass(clock, 100);
      assert.equal(await result, retryable ? "done" : "failed", code);
    }
  });

  it("does not try again after a defect, which comes out as internal", async () => {
    const { retrying } = setUp();
    const attempt = failing(new TypeError("x is not a function"));
    await assert.rejects(
      retry(attempt.run, () => retrying),
      { code: "internal" },
    );
    assert.equal(attempt.tries, 1);
  });

  it("ends a wait when the signal aborts, and does not try again", async () => {
    const control = new AbortController();
    const { clock, retrying } = setUp(() => 1, control.signal);
    const attempt = failing(busy());
    const result = retry(attempt.run, () => retrying);
    await pass(clock, 50);
    assert.equal(clock.sleeping, 1);
    control.abort(new Failure("cancelled", "by the user"));
    await assert.rejects(result, { code: "cancelled", message: "by the user" });
    assert.deepEqual([attempt.tries, clock.sleeping], [1, 0]);
  });

  it("does not wait when the signal has aborted during the try", async () => {
    const control = new AbortController();
    const { waits, retrying } = setUp(() => 1, control.signal);
    const attempt = async (): Promise<never> => {
      control.abort();
      throw busy();
    };
    await assert.rejects(
      retry(attempt, () => retrying),
      { code: "provider_overloaded" },
    );
    assert.deepEqual(waits, []);
  });

  it("reports each wait before it begins, with the failure and the number of the try", async () => {
    const { clock, retrying } = setUp();
    const told: [string, number, number][] = [];
    const onRetry: Retrying["onRetry"] = (failure, waitMs, attempt) =>
      void told.push([failure.code, waitMs, attempt]);
    const attempt = failing(busy(7), new Failure("provider_timeout", "slow"));
    const result = retry(attempt.run, () => ({ ...retrying, onRetry }));
    await clock.advance(0);
    assert.deepEqual(told, [["provider_overloaded", 7, 1]]);
    await pass(clock, 1000);
    await result;
    assert.deepEqual(told[1], ["provider_timeout", 200, 2]);
  });

  it("has a policy for models that a person can wait for", () => {
    const waits = Array.from({ length: MODEL_RETRY.attempts - 1 }, (_, at) =>
      Math.min(MODEL_RETRY.maxMs, MODEL_RETRY.baseMs * 2 ** at),
    );
    const mostMs = waits.reduce((sum, ms) => sum + ms, 0);
    assert.ok(mostMs > 20_000 && mostMs < 60_000, "a short outage is sat out, a long one is not");
    assert.ok(MODEL_RETRY.attempts > 1 && MODEL_RETRY.baseMs < MODEL_RETRY.maxMs);
    assert.ok(MODEL_RETRY.maxRetryAfterMs >= MODEL_RETRY.maxMs);
  });
});
