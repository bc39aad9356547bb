/** How the local engine uses its store: what it may read and write, and what it finds there. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { completed, createGate, onBenches, until } from "./engine-fixture.ts";
import { type LocalBench, wrapStore } from "./local-fixture.ts";

const RUN = { id: "run_1", title: "a run" };

export function describeStoreUse(name: string, openBench: () => Promise<LocalBench>): void {
  const onBench = onBenches(openBench);

  describe(`${name}: its store`, () => {
    it(
      "has runs that were written down and never claimed: they start once no process can be about to claim them",
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
      "is not asked for the result of a run whose ending alone is waited for",
      onBench(async (bench) => {
        const store = wrapStore(bench.store, (name, call) => {
          // A result may be as large as an answer, and it would be parsed for nothing.
          assert.notEqual(name, "getRun");
          assert.notEqual(name, "readEvents");
          return call;
        });
        const engine = bench.engine({ store });
        const gate = createGate();
        engine.define("waiter", async (context) =>
          completed(await context.step("one", () => gate.opened.then(() => "x".repeat(1000)))),
        );
        await engine.submit("waiter", null, RUN);
        const ended = engine.ended("run_1");
        gate.open();
        await ended;
        assert.equal((await engine.status("run_1"))?.status, "ended");
        await assert.rejects(engine.ended("run_2"), { code: "not_found" });
      }),
    );

    it(
      "is asked only for the status and the log of another process's run",
      onBench(async (bench) => {
        const owner = bench.engine();
        const gate = createGate();
        owner.define("waiter", async (context) =>
          completed(await context.step("one", () => gate.opened.then(() => null))),
        );
        await owner.submit("waiter", "x".repeat(1000), RUN);
        let looks = 0;
        const store = wrapStore(bench.store, (name, call) => {
          // Otherwise the run's input and result would be parsed at each look.
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
      "is not written to by an engine that only reads",
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
      "is not written to for a look at messages that finds none",
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
