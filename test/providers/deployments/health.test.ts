/** When a deployment cools down, and how it comes back. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { createHealths, type DeploymentHealth } from "../../../src/providers/deployments/health.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/index.ts";

const DOWN = new Failure("provider_unreachable", "refused");

function start(): { readonly clock: ManualClock; readonly health: DeploymentHealth } {
  const clock = createManualClock();
  const healths = createHealths(clock);
  healths.set({ failures: 3, cooldownMs: 1000 });
  return { clock, health: healths.of("key", "label") };
}

function fail(health: DeploymentHealth, failure = DOWN): void {
  health.begin().end(failure);
}

describe("the health of a deployment", () => {
  it("cools down after failures in a row, which an answer interrupts", () => {
    const { health } = start();
    fail(health);
    fail(health);
    health.begin().end("well");
    fail(health);
    fail(health);
    assert.equal(health.isReady, true);
    fail(health);
    assert.equal(health.isReady, false);
    assert.equal(health.askedWaitMs, 0);
  });

  it("lets one call try it after the cooldown, and all others after that one's first output", async () => {
    const { health, clock } = start();
    for (let count = 0; count < 3; count++) fail(health);
    await clock.advance(999);
    assert.equal(health.isReady, false);
    await clock.advance(1);
    assert.equal(health.isReady, true);
    const trial = health.begin();
    assert.equal(health.isReady, false, "while it is tried");
    trial.answered();
    assert.equal(health.isReady, true);
    trial.end("well");
    fail(health);
    fail(health);
    assert.equal(health.isReady, true, "all is forgotten");
  });

  it("cools down twice as long after a trial that failed, eight times as long at most", async () => {
    const { health, clock } = start();
    for (let count = 0; count < 3; count++) fail(health);
    for (const factor of [1, 2, 4, 8, 8]) {
      await clock.advance(1000 * factor - 1);
      assert.equal(health.isReady, false, `before ${factor} s`);
      await clock.advance(1);
      assert.equal(health.isReady, true, `after ${factor} s`);
      fail(health);
    }
  });

  it("is tried again by the next call if the trial's client disconnected", async () => {
    const { health, clock } = start();
    for (let count = 0; count < 3; count++) fail(health);
    await clock.advance(1000);
    health.begin().end("unknown");
    assert.equal(health.isReady, true);
  });

  it("counts an answer that breaks off in the middle as a failure after a trial", async () => {
    const { health, clock } = start();
    for (let count = 0; count < 3; count++) fail(health);
    await clock.advance(1000);
    const trial = health.begin();
    trial.answered();
    trial.end(new Failure("provider_failed", "broke"));
    assert.equal(health.isReady, false);
  });

  it("waits as long as the server asks after a single failure, and reports how long", async () => {
    const { health, clock } = start();
    fail(health, new Failure("provider_overloaded", "busy", { retryAfterMs: 5000 }));
    await clock.advance(2000);
    assert.equal(health.isReady, false);
    assert.equal(health.askedWaitMs, 3000);
    await clock.advance(3000);
    assert.equal(health.isReady, true);
  });

  it("cools down at once for a cause that the next call would meet too: its key, its balance, its model", () => {
    const lasting = [
      new Failure("provider_unauthorized", "401"),
      new Failure("provider_rejected", "429", { vendorCode: "insufficient_quota" }),
      new Failure("model_not_found", "404"),
    ];
    for (const failure of lasting) {
      const { health } = start();
      fail(health, failure);
      assert.equal(health.isReady, false, failure.message);
    }
  });

  it("reports when a cooldown begins, but not waits that the server asked for", () => {
    const healths = createHealths(createManualClock());
    healths.set({ failures: 2, cooldownMs: 1000 });
    const told: unknown[] = [];
    const unwatch = healths.watch(({ label, waitMs }) => told.push([label, waitMs]));
    const health = healths.of("key", "label");
    for (let count = 0; count < 4; count++) fail(health);
    fail(healths.of("busy", "busy"), new Failure("provider_overloaded", "x", { retryAfterMs: 9 }));
    assert.deepEqual(told, [["label", 1000]]);
    unwatch();
    fail(healths.of("other", "other"), new Failure("provider_unauthorized", "401"));
    assert.equal(told.length, 1);
  });

  it("is reported once for each label", () => {
    const healths = createHealths(createManualClock());
    healths.of("one", "openai/m").begin().end(new Failure("provider_unauthorized", "401"));
    healths.of("two", "openai/m").begin().end(DOWN);
    const waits = { waitMs: 30_000, reason: "refused" };
    const report = { label: "openai/m", isReady: false, failures: 2, ...waits };
    assert.deepEqual(healths.report(), [report]);
  });
});
