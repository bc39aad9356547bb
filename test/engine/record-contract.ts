/** The record of runs as an engine shows it to readers, and what removes it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  completed,
  createGate,
  notice,
  type OpenBench,
  onBenches,
  toTexts,
  until,
} from "./engine-fixture.ts";

export function describeRecord(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  describe(`${name}: the record`, () => {
    it(
      "shows a run whole, in lists and event by event, to every process",
      onBench(async (bench) => {
        const engine = bench.engine();
        const other = bench.engine();
        engine.define("agent", async (context, input) => {
          await context.step("one", async () => {
            await context.emit([notice("a"), notice("b")]);
            return null;
          });
          return completed({ said: input });
        });
        for (const id of ["run_1", "run_2"]) {
          await engine.submit("agent", id, { id, title: `the title of ${id}` });
          await engine.result(id);
        }
        for (const { record } of [engine, other]) {
          const run = await record.getRun("run_1");
          assert.deepEqual([run?.input, run?.result], ["run_1", { said: "run_1" }]);
          assert.deepEqual([run?.name, run?.title], ["agent", "the title of run_1"]);
          assert.deepEqual([run?.status, run?.ending, run?.next_seq], ["ended", "completed", 3]);
          assert.equal(await record.getRun("run_x"), undefined);
          const all = await record.listRuns({ limit: 10 });
          assert.deepEqual(
            all.map(({ id }) => id),
            ["run_2", "run_1"],
          );
          assert.deepEqual(toTexts(await record.readEvents("run_1", 0, 1)), ["b"]);
          assert.deepEqual(toTexts(await record.readEvents("run_1", 1, 10)), ["run_end"]);
        }
      }),
    );

    it(
      "reports whether a living process has a run, and which",
      onBench(async (bench) => {
        const isAlive = ({ id }: { readonly id: string }): boolean => id === "first";
        const first = bench.engine({ workerId: "first" });
        const other = bench.engine({ isAlive });
        const heir = bench.engine();
        const gate = createGate();
        first.define("agent", async (context) =>
          completed(await context.step("one", () => gate.opened.then(() => null))),
        );
        await first.submit("agent", null, { id: "run_1", title: "" });
        const run = (await other.status("run_1")) ?? assert.fail();
        assert.equal(await first.isHeld(run), true);
        assert.equal(await other.isHeld(run), true);
        assert.equal(await other.isHeld(run, { surely: true }), true);
        assert.match(await other.nameHolder(run), new RegExp(`process ${process.pid} on `));
        assert.equal(await heir.isHeld(run), false, "it takes the first for dead");
        gate.open();
        await first.result("run_1");
        assert.equal(await first.isHeld({ id: "run_2", owner: null }), false);
      }),
    );

    it(
      "removes a run with everything below it, and nothing else, when it is deleted",
      onBench(async (bench) => {
        const engine = bench.engine();
        engine.define("node", async (context, depth) => {
          if (Number(depth) > 0) {
            const child = await context.child("a", "node", Number(depth) - 1);
            await child.result();
          }
          return completed(depth);
        });
        for (const id of ["run_1", "run_10"]) {
          await engine.submit("node", 2, { id, title: "" });
          await engine.result(id);
        }
        await engine.delete("run_1");
        const left = await engine.record.listRuns({ limit: 10 });
        assert.deepEqual(left.map(({ id }) => id).sort(), ["run_10", "run_10/a", "run_10/a/a"]);
        assert.deepEqual(await engine.record.readEvents("run_1/a", -1, 10), []);
        await engine.delete("run_1");
      }),
    );

    it(
      "refuses writes of a run that was deleted while it ran",
      onBench(async (bench) => {
        const engine = bench.engine();
        const other = bench.engine({ isAlive: () => true });
        const gate = createGate();
        let isOver = false;
        engine.define("agent", async (context) => {
          try {
            return completed(await context.step("one", () => gate.opened.then(() => null)));
          } finally {
            isOver = true;
          }
        });
        await engine.submit("agent", null, { id: "run_1", title: "" });
        await other.delete("run_1");
        gate.open();
        await until(() => isOver);
        await engine.idle();
        assert.equal(await other.status("run_1"), undefined);
        assert.deepEqual(await other.record.readEvents("run_1", -1, 10), []);
      }),
    );

    it(
      "reports that it can be written, and how many wait in a queue",
      onBench(async (bench) => {
        const engine = bench.engine();
        await engine.checkWritable();
        const gate = createGate();
        engine.defineQueue("q", { atOnce: 1 });
        engine.define("agent", async (context) => {
          await context.turn("q", "lane");
          return completed(await context.step("one", () => gate.opened.then(() => null)));
        });
        for (const id of ["run_1", "run_2", "run_3"]) {
          await engine.submit("agent", null, { id, title: "" });
        }
        await until(async () => (await engine.countWaiting("q")) === 2);
        gate.open();
        for (const id of ["run_1", "run_2", "run_3"]) await engine.result(id);
        assert.equal(await engine.countWaiting("q"), 0);
      }),
    );
  });
}
