import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { createLocalEngine } from "../../../src/engine/local-engine.ts";
import type { JsonAnswer, RouteCall } from "../../../src/server/route.ts";
import { createHealthRoutes } from "../../../src/server/routes/health.ts";
import { createHealth } from "../../../src/server/running/health.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { createManualClock } from "../../../src/testing/index.ts";

interface Told {
  readonly notice?: string;
}

describe("health", () => {
  const open = () => {
    const clock = createManualClock();
    const engine = createLocalEngine({ store: createMemoryStore() });
    const state = { isDraining: false, isDamaged: false, isFull: false, writes: 0 };
    engine.checkWritable = async () => {
      state.writes++;
      if (state.isFull) throw new Failure("store_full", "The disk /secret/place is full.");
    };
    const health = createHealth({
      clock,
      engine: () => engine,
      isDraining: () => state.isDraining,
      isDamaged: () => state.isDamaged,
    });
    const routes = createHealthRoutes(health);
    const ask = async (path: string): Promise<[number, object]> => {
      const route = routes.find((one) => one.path === path) ?? assert.fail();
      assert.equal(route.scope, null);
      const { status = 200, body } = (await route.handle({} as RouteCall)) as JsonAnswer;
      return [status, body];
    };
    return { clock, state, ask };
  };

  it("is ready while its record can be written, and asks the disk once a second", async () => {
    const { clock, state, ask } = open();
    assert.deepEqual(await ask("/readyz"), [200, { status: "ready" }]);
    await ask("/readyz");
    assert.equal(state.writes, 1);
    state.isFull = true;
    clock.advance(1000);
    assert.deepEqual(await ask("/readyz"), [503, { status: "not ready", reason: "store_full" }]);
    state.isFull = false;
    clock.advance(1000);
    assert.equal((await ask("/readyz"))[0], 200);
  });

  it("says that the clock of this machine is wrong, and is ready all the same", async () => {
    const { clock, ask } = open();
    const rows: [number, RegExp][] = [
      [9000, /^$/],
      [-60_000, /is 60 seconds behind that of the database/],
      [5 * 3_600_000, /is 5 hours ahead of that of the database.*Set it \(NTP\)/],
    ];
    for (const [machineAheadMs, line] of rows) {
      Object.assign(clock, { machineAheadMs });
      const [status, { notice = "", ...rest }] = (await ask("/readyz")) as [number, Told];
      assert.deepEqual([status, rest], [200, { status: "ready" }]);
      assert.match(notice, line);
    }
  });

  it("lives, but is not ready, once its record was found damaged", async () => {
    const { state, ask } = open();
    assert.equal((await ask("/readyz"))[0], 200);
    state.isDamaged = true;
    assert.deepEqual(await ask("/readyz"), [503, { status: "not ready", reason: "store_failed" }]);
    assert.deepEqual(await ask("/healthz"), [200, { status: "ok" }]);
  });

  it("lives, but is not ready, while it drains", async () => {
    const { state, ask } = open();
    state.isDraining = true;
    assert.deepEqual(await ask("/readyz"), [503, { status: "draining" }]);
    assert.deepEqual(await ask("/healthz"), [200, { status: "ok" }]);
  });
});
