/** How the local engine uses its store: what it may read and write, and what it finds there. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { completed, createGate, onBenches, until } from "./engine-bench.ts";
import { type LocalBench, wrapStore } from "./local-bench.ts";

const RUN = { id: "run_1", title: "a run" };

export function describeStoreUse(name: string, openBench: () => Promise<LocalBench>): void {
  const onBench = onBenches(openBench);

  describe(`${name}: its store`, () => {
    it(
      "has runs that were written down and never claimed: they start once nobody can be about to",
      onBench(async (bench) => {
        const engine = bench.engine();
        engine.define("agent", async () => completed(null));
        const created_at_ms = bench.clock.now();
        const run = { ...RUN, parent_id: null, path: "/root", name: "agent", input: null };
        await bench.store.createRun({ ...run, created_at_ms });
        assert.deepEqual(await engine.start(), []);
        bench.clock.advance(10_001);
        assert.deepEqual(await engine.start(), ["run_1"]);
        assert.equal((await engine.result("run_1")).ending, "completed");
      }),
    );

    it(
      "is asked for no more than the status and the log of another process's run",
      onBench(async (bench) => {
        const owner = bench.engine();
        const gate = createGate();
        owner.define("waiter", async (context) =>
          completed(await context.step("one", () => gate.opened.then(() => null))),
        );
        await owner.submit("waiter", "x".repeat(1000), RUN);
        let looks = 0;
        const store = wrapStore(bench.store, (name, call) => {
          // All of what the run was given, and gave, would be parsed at each look.
          assert.notEqual(name, "getRun");
          if (name === "getRunStatus") looks++;
          return call;
        });
        const leave = new AbortController();
        const left = (async () => {
          for await (const _ of bench.engine({ store }).follow("run_1", -1, leave.signal));
        })();
        await until(() => {
          bench.clock.advance(200);
          return looks > 5;
        });
        leave.abort(new Error("gone"));
        await assert.rejects(left, /gone/);
        gate.open();
        await owner.result("run_1");
      }),
    );

    it(
      "is not written to by an engine that only looks",
      onBench(async (bench) => {
        const owner = bench.engine();
        owner.define("agent", async () => completed(null));
        await owner.submit("agent", null, RUN);
        await owner.result("run_1");
        const writes: string[] = [];
        const store = wrapStore(bench.store, (name, call) => (...values) => {
          if (!/^(get|list|read|close)/.test(name)) writes.push(name);
          return call(...values);
        });
        const looking = bench.engine({ store });
        await looking.record.listRuns({ limit: 1 });
        await looking.status("run_1");
        await looking.result("run_1");
        await looking.stop();
        assert.deepEqual(writes, []);
      }),
    );

    it(
      "is not written to for a look at messages where there are none",
      onBench(async (bench) => {
        const writes: string[] = [];
        const store = wrapStore(bench.store, (name, call) => (...values) => {
          if (/^(save|append|finish|put|takeSignal$|beat)/.test(name)) writes.push(name);
          return call(...values);
        });
        const engine = bench.engine({ store });
        engine.define("agent", async (context) => {
          writes.length = 0;
          const found = await context.take("t", "one");
          return completed([found, [...writes]]);
        });
        await engine.submit("agent", null, RUN);
        assert.deepEqual((await engine.result("run_1")).result, [[], []]);
        assert.equal(await bench.countSteps("run_1"), 0);
      }),
    );
  });
}
