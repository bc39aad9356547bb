/**
 * What every `Engine` must do with a run that is written down when it has ended already (`noteEnded`), as most stored
 * responses are: it is in the record once, and like any other run that has ended.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { EndedOptions, Engine, Following, RunOutcome } from "../../src/engine/engine.ts";
import type { LoggedEvent } from "../../src/protocol/run-events.ts";
import {
  type BenchEngineOptions,
  completed,
  type OpenBench,
  onBenches,
  readAll,
  toTexts,
  until,
} from "./engine-fixture.ts";

const OPTIONS: EndedOptions = { id: "run_1", title: "a run", createdAtMs: 0 };
const QUEUE = "after";
const following: Following = ({ input }) =>
  input === "alone"
    ? []
    : [{ key: "next", name: "next", title: "next", input, queue: QUEUE, lane: "a" }];

/** Every write of such a run is carried out, and its answer is lost. */
const LOSING: BenchEngineOptions = {
  faults: {
    loseAnswer: (method) =>
      method === "recordRun" ? new Failure("store_busy", "The record is silent.") : undefined,
  },
};

export function describeNoted(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  /** `agent` notes that it was called; so does `next`, which follows each run of `first`. */
  function define(engine: Engine, called: string[], atOnce = 8): void {
    engine.defineQueue(QUEUE, { atOnce });
    for (const body of ["agent", "first", "next"]) {
      engine.define(
        body,
        async ({ id }) => {
          called.push(id);
          return completed("called");
        },
        body === "first" ? following : undefined,
      );
    }
  }

  /** An outcome of ten tokens, and how often its process was told that they were booked. */
  function createUse(result: string): { told: number; outcome: RunOutcome } {
    const use = { told: 0 };
    const settles = { keyId: "k", used: { tokens: 10 }, nowMs: 0 };
    const onEnded = (): void => void use.told++;
    return Object.assign(use, { outcome: { ...completed(result), settles, onEnded } });
  }

  describe(`${name}: a run that is written down when it has ended`, () => {
    it(
      "is like one that has ended here, and its body is not called",
      onBench(async (bench) => {
        const engine = bench.engine();
        const called: string[] = [];
        define(engine, called);
        await engine.noteEnded("agent", { a: 1 }, OPTIONS, completed("done"));
        assert.equal((await engine.status("run_1"))?.status, "ended");
        assert.deepEqual(await engine.input("run_1"), { a: 1 });
        assert.equal((await engine.result("run_1")).result, "done");
        assert.deepEqual(toTexts(await readAll(engine, "run_1")), ["run_end"]);
        await assert.rejects(engine.resume("run_1"), { code: "conflict" });
        await assert.rejects(engine.cancel("run_1", { tree: true }), { code: "conflict" });
        const other = bench.engine();
        define(other, called);
        assert.deepEqual(await other.start(), []);
        assert.equal((await other.result("run_1")).result, "done");
        assert.deepEqual(called, []);
      }),
    );

    it(
      "is booked with its ending, and its process is told",
      onBench(async (bench) => {
        const engine = bench.engine();
        define(engine, []);
        const use = createUse("done");
        await engine.noteEnded("agent", null, OPTIONS, use.outcome);
        assert.deepEqual([await bench.readBooked("k"), use.told], [10, 1]);
      }),
    );

    it(
      "is written down and booked once: a second one is refused and changes nothing",
      onBench(async (bench) => {
        const engine = bench.engine();
        define(engine, []);
        const [first, second] = [createUse("first"), createUse("second")];
        await engine.noteEnded("agent", 1, OPTIONS, first.outcome);
        const again = engine.noteEnded("agent", 2, OPTIONS, second.outcome);
        await assert.rejects(again, { code: "internal" });
        assert.deepEqual([await bench.readBooked("k"), first.told, second.told], [10, 1, 0]);
        assert.equal((await engine.result("run_1")).result, "first");
        assert.equal(await engine.input("run_1"), 1);
      }),
    );

    it(
      "is refused if a run with its id is at work, which continues",
      onBench(async (bench) => {
        const engine = bench.engine();
        define(engine, []);
        await engine.submit("agent", 1, { ...OPTIONS, isHeld: true });
        const use = createUse("done");
        const noted = engine.noteEnded("agent", 2, OPTIONS, use.outcome);
        await assert.rejects(noted, { code: "internal" });
        assert.deepEqual([await bench.readBooked("k"), use.told], [0, 0]);
        await engine.resume("run_1");
        assert.equal((await engine.result("run_1")).result, "called");
      }),
    );

    it(
      "is found by the next process that begins it, if the answer to its write was lost",
      onBench(async (bench) => {
        const engine = bench.engine(LOSING);
        const called: string[] = [];
        define(engine, called);
        const use = createUse("done");
        const noted = engine.noteEnded("agent", null, OPTIONS, use.outcome);
        await assert.rejects(noted, { code: "store_busy" });
        await engine.submit("agent", null, OPTIONS);
        assert.equal((await engine.result("run_1")).result, "done");
        assert.deepEqual(toTexts(await readAll(engine, "run_1")), ["run_end"]);
        assert.equal(await bench.readBooked("k"), 10);
        assert.deepEqual(called, []);
      }),
    );

    it(
      "is reported to watchers with its numbers, and not if it is refused",
      onBench(async (bench) => {
        const engine = bench.engine();
        define(engine, []);
        const seen: LoggedEvent[] = [];
        engine.watch((logged) => seen.push(logged));
        await engine.noteEnded("agent", null, OPTIONS, completed("done"));
        await assert.rejects(engine.noteEnded("agent", null, OPTIONS, completed("again")));
        assert.deepEqual(seen, await bench.record.readEvents("run_1", -1, 10));
        assert.equal(seen.length, 1);
      }),
    );

    it(
      "is followed by the runs that begin with its ending, once, also if the answer was lost",
      onBench(async (bench) => {
        for (const [id, options] of [
          ["well", {}],
          ["lost", LOSING],
        ] as const) {
          const engine = bench.engine(options);
          const called: string[] = [];
          define(engine, called);
          const noted = engine.noteEnded("first", null, { ...OPTIONS, id }, completed("done"));
          await noted.catch(() => {});
          await engine.start();
          await until(async () => (await bench.record.getRun(`${id}/next`))?.status === "ended");
          await engine.submit("first", null, { ...OPTIONS, id });
          await engine
            .noteEnded("first", "alone", { ...OPTIONS, id: `${id}_alone` }, completed(1))
            .catch(() => {});
          await engine.start();
          await engine.idle();
          assert.deepEqual(called, [`${id}/next`]);
        }
      }),
    );

    it(
      "is refused by a process that does not know its body, and by one that has stopped",
      onBench(async (bench) => {
        const engine = bench.engine();
        const noted = (body: string) => engine.noteEnded(body, null, OPTIONS, completed("done"));
        await assert.rejects(noted("no_such"), { code: "invalid_request" });
        define(engine, []);
        await engine.stop();
        await assert.rejects(noted("agent"), { code: "cancelled" });
        assert.equal(await bench.record.getRun("run_1"), undefined);
      }),
    );
  });
}
