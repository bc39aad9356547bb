/** Cancelling: a run of this process, of another one, and of one that died. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aborted } from "./engine-contract.ts";
import {
  type Bench,
  completed,
  createGate,
  notice,
  type OpenBench,
  onBenches,
  readAll,
  settle,
  toTexts,
  turnUntil,
  until,
} from "./engine-fixture.ts";

const RUN = { id: "run_1", title: "a run" };

export function describeCancelling(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  describe(`${name}: cancelling`, () => {
    const defineTree = (engine: ReturnType<Bench["engine"]>): void => {
      engine.define("node", async (context, depth) => {
        if (Number(depth) > 0) await context.child("a", "node", Number(depth) - 1);
        return await aborted(context);
      });
    };

    it(
      "ends a run and with `tree` everything below it",
      onBench(async (bench) => {
        const engine = bench.engine();
        defineTree(engine);
        await engine.submit("node", 2, RUN);
        await until(async () => (await engine.status("run_1/a/a")) !== undefined);
        await settle();
        await engine.cancel("run_1", { tree: true });
        for (const id of ["run_1", "run_1/a", "run_1/a/a"]) {
          const { ending, events } = await engine.result(id);
          assert.deepEqual([ending, events.length], ["cancelled", 1], id);
        }
      }),
    );

    it(
      "leaves the children alone without `tree`",
      onBench(async (bench) => {
        const engine = bench.engine();
        defineTree(engine);
        await engine.submit("node", 1, RUN);
        await until(async () => (await engine.status("run_1/a")) !== undefined);
        await settle();
        await engine.cancel("run_1", { tree: false });
        assert.equal((await engine.result("run_1")).ending, "cancelled");
        assert.equal((await engine.status("run_1/a"))?.status, "running");
      }),
    );

    it(
      "starts no further steps, and lets the running one write its last events",
      onBench(async (bench) => {
        const engine = bench.engine();
        const later: string[] = [];
        const started = createGate();
        engine.define("agent", async (context) => {
          await context.step("one", async () => {
            started.open();
            await aborted(context).catch(() => {});
            await context.emit([notice("last words")]);
            return null;
          });
          await context.step("two", async () => later.push("ran"));
          return completed(null);
        });
        await engine.submit("agent", null, RUN);
        await started.opened;
        await engine.cancel("run_1", { tree: true });
        assert.equal((await engine.result("run_1")).ending, "cancelled");
        assert.deepEqual(toTexts(await readAll(engine, "run_1")), ["last words", "run_end"]);
        assert.deepEqual(later, []);
      }),
    );

    it(
      "counts what a run had done whose process died before",
      onBench(async (bench) => {
        const found: unknown[] = [];
        const asked = createGate();
        const first = bench.engine();
        const second = bench.engine();
        for (const engine of [first, second]) {
          engine.define("agent", async (context) => {
            found.push(await context.step("one", async () => "done"));
            found.push(await context.take("said", "two"));
            await context.step("two", async () => {
              asked.open();
              return await new Promise<null>(() => {});
            });
            return completed(null);
          });
        }
        await first.submit("agent", null, RUN);
        await asked.opened;
        first.crash();
        await second.cancel("run_1", { tree: true });
        assert.equal((await second.result("run_1")).ending, "cancelled");
        assert.deepEqual(found, ["done", [], "done"]);
      }),
    );

    it(
      "says why when there is nothing to cancel",
      onBench(async (bench) => {
        const engine = bench.engine();
        engine.define("agent", async () => completed(null));
        engine.define("endless", aborted);
        await engine.submit("agent", null, RUN);
        await engine.submit("endless", null, { id: "run_2", title: "" });
        await engine.result("run_1");
        const cases = [
          { id: "run_x", code: "not_found", message: /no run `run_x`/ },
          { id: "run_1", code: "conflict", message: /ended already: completed/ },
          { id: "run_2", code: "conflict", message: /its process is gone/ },
        ];
        // It believes that the other one is dead, and has no code to end its run with.
        const other = bench.engine();
        for (const { id, ...failure } of cases) {
          await assert.rejects(other.cancel(id, { tree: true }), failure);
        }
      }),
    );

    it(
      "ends a run of another process within a moment, with everything below it",
      onBench(async (bench) => {
        const engine = bench.engine();
        const other = bench.engine({ isAlive: () => true });
        defineTree(engine);
        await engine.submit("node", 1, RUN);
        await until(async () => (await engine.status("run_1/a")) !== undefined);
        await settle();
        const cancelled = other.cancel("run_1", { tree: true });
        await settle();
        assert.equal((await engine.status("run_1"))?.status, "running");
        await turnUntil(bench, cancelled);
        for (const id of ["run_1", "run_1/a"]) {
          assert.equal((await other.status(id))?.ending, "cancelled", id);
        }
      }),
    );

    it(
      "ends a run whose process died: the next owner does not continue it",
      onBench(async (bench) => {
        const engine = bench.engine();
        const witness = bench.engine({ isAlive: () => true });
        const steps: string[] = [];
        const started = createGate();
        const define = (some: ReturnType<Bench["engine"]>, who: string): void =>
          some.define("agent", async (context) => {
            await context.step("one", async () => steps.push(who));
            started.open();
            return await aborted(context);
          });
        define(engine, "first");
        await engine.submit("agent", null, RUN);
        await started.opened;
        // Asked of a process that still lives, and dies before it looks.
        const cancelled = witness.cancel("run_1", { tree: true });
        await settle();
        engine.crash();
        const heir = bench.engine();
        define(heir, "heir");
        assert.deepEqual(await heir.start(), ["run_1"]);
        assert.equal((await heir.result("run_1")).ending, "cancelled");
        await turnUntil(bench, cancelled);
        assert.deepEqual(steps, ["first"]);
      }),
    );

    it(
      "runs no step of a run that is cancelled before a process has claimed it",
      onBench(async (bench) => {
        const engine = bench.engine();
        const steps: string[] = [];
        engine.define("agent", async (context) => {
          await context.step("one", async () => steps.push("one"));
          return completed(null);
        });
        // A child process is to claim it.
        await engine.submit("agent", null, { ...RUN, isHeld: true });
        await turnUntil(bench, engine.cancel("run_1", { tree: true }));
        assert.equal((await engine.result("run_1")).ending, "cancelled");
        assert.deepEqual(steps, []);
      }),
    );

    it(
      "takes a run over to end it if its process is gone already",
      onBench(async (bench) => {
        const engine = bench.engine();
        const other = bench.engine();
        for (const some of [engine, other]) some.define("endless", aborted);
        await engine.submit("endless", null, RUN);
        engine.crash();
        await other.cancel("run_1", { tree: true });
        assert.equal((await other.status("run_1"))?.ending, "cancelled");
      }),
    );
  });
}
