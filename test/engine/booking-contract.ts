/** What every `Engine` must do with the usage of its runs: it is booked with their ending, once. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { RunOutcome } from "../../src/engine/engine.ts";
import { completed, type OpenBench, onBenches, readAll, toTexts } from "./engine-fixture.ts";

const RUN = { id: "run_1", title: "a run" };
const FULL = new Failure("store_full", "There is no room.");

export function describeBooking(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);
  /** An outcome of ten tokens, and how often its process was told that they were booked. */
  const createUse = (): { told: number; outcome(): RunOutcome } => {
    const use = {
      told: 0,
      outcome: (): RunOutcome => ({
        ...completed("done"),
        settles: { keyId: "k", used: { tokens: 10 }, nowMs: 0 },
        onEnded: () => void use.told++,
      }),
    };
    return use;
  };

  describe(`${name}: what a run has used`, () => {
    it(
      "is booked with its ending",
      onBench(async (bench) => {
        const engine = bench.engine();
        const use = createUse();
        engine.define("agent", async () => use.outcome());
        await engine.submit("agent", null, RUN);
        await engine.result("run_1");
        await engine.idle();
        assert.deepEqual([await bench.readBooked("k"), use.told], [10, 1]);
      }),
    );

    it(
      "is booked by the process that ends it, and not by one that died before",
      onBench(async (bench) => {
        const lost = createUse();
        const kept = createUse();
        const dying = bench.engine({
          faults: {
            refuseEnding() {
              dying.crash();
              return FULL;
            },
          },
        });
        dying.define("agent", async () => lost.outcome());
        await dying.submit("agent", null, RUN);
        await dying.idle();
        assert.equal(await bench.readBooked("k"), 0);
        const other = bench.engine();
        other.define("agent", async () => kept.outcome());
        assert.deepEqual(await other.start(), ["run_1"]);
        await other.result("run_1");
        await other.idle();
        assert.deepEqual([await bench.readBooked("k"), lost.told, kept.told], [10, 0, 1]);
      }),
    );

    it(
      "is not booked by an earlier owner",
      onBench(async (bench) => {
        const past = createUse();
        const kept = createUse();
        const other = bench.engine();
        other.define("agent", async () => kept.outcome());
        const first = bench.engine();
        first.define("agent", async () => {
          await other.start();
          await other.result("run_1");
          return past.outcome();
        });
        await first.submit("agent", null, RUN);
        await Promise.all([first.idle(), other.idle()]);
        assert.deepEqual([await bench.readBooked("k"), past.told, kept.told], [10, 0, 1]);
      }),
    );

    for (const notices of ["a caller that waits", "the next start"]) {
      it(
        `is booked once if the answer to its ending was lost, and ${notices} finds that it has ended`,
        onBench(async (bench) => {
          const loseAnswer = (method: string): Failure | undefined =>
            method === "finish" ? FULL : undefined;
          const engine = bench.engine({ faults: { loseAnswer } });
          const use = createUse();
          engine.define("agent", async () => use.outcome());
          await engine.submit("agent", null, RUN);
          await engine.idle();
          if (notices === "the next start") assert.deepEqual(await engine.start(), []);
          else assert.equal((await engine.result("run_1")).ending, "completed");
          assert.deepEqual([await bench.readBooked("k"), use.told], [10, 1]);
          assert.deepEqual(toTexts(await readAll(engine, "run_1")), ["run_end"]);
          assert.equal((await engine.result("run_1")).result, "done");
          await assert.rejects(engine.resume("run_1"), { code: "conflict" });
          assert.equal(use.told, 1);
        }),
      );
    }

    it(
      "is not told to a process whose ending was lost with the run",
      onBench(async (bench) => {
        const past = createUse();
        const kept = createUse();
        const first = bench.engine({ faults: { refuseEnding: () => FULL } });
        first.define("agent", async () => past.outcome());
        await first.submit("agent", null, RUN);
        await first.idle();
        const other = bench.engine();
        other.define("agent", async () => kept.outcome());
        await other.start();
        await other.result("run_1");
        await first.start();
        assert.equal((await first.result("run_1")).ending, "completed");
        assert.deepEqual([await bench.readBooked("k"), past.told, kept.told], [10, 0, 1]);
      }),
    );

    for (const isTold of [true, false]) {
      const then = isTold ? "it ends as failed" : "it is run again";
      it(
        `is booked once if its end did not fit, and ${then} once there is room`,
        onBench(async (bench) => {
          let isFull = true;
          const refuseEnding = (): Failure | undefined => (isFull ? FULL : undefined);
          const engine = bench.engine({ faults: { refuseEnding } });
          const use = createUse();
          engine.define("agent", async () => use.outcome());
          await engine.submit("agent", null, RUN);
          if (isTold) await assert.rejects(engine.result("run_1"), { code: "store_full" });
          await engine.idle();
          assert.deepEqual([await bench.readBooked("k"), use.told], [0, 0]);
          isFull = false;
          assert.deepEqual(await engine.start(), ["run_1"]);
          assert.equal((await engine.result("run_1")).ending, isTold ? "failed" : "completed");
          await engine.idle();
          assert.deepEqual([await bench.readBooked("k"), use.told], [10, 1]);
        }),
      );
    }
  });
}
