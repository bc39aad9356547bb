/** Two versions of the program on one record: a run continues with a version that knows its journal. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunBody } from "../../src/engine/engine.ts";
import { JOURNAL_VERSION } from "../../src/store/journal-version.ts";
import { completed, createGate, onBenches, until } from "./engine-fixture.ts";
import type { LocalBench } from "./local-fixture.ts";

const NEWER = JOURNAL_VERSION + 1;
const RUN = { id: "run_1", title: "a run" };
const QUEUE = { name: "queue", lane: "a", maxWaiting: 9, placement: "queue" } as const;

/** Its first owner waits for ever; every other one ends it, and reports its name. */
const toBody =
  (by: string): RunBody =>
  async (context) => {
    await context.step("begun", async () => by);
    if (context.epoch === 1) await createGate().opened;
    return completed(await context.step("ended", async () => by));
  };

export function describeJournalVersions(name: string, openBench: () => Promise<LocalBench>): void {
  const onBench = onBenches(openBench);

  describe(`${name}: two versions of the program`, () => {
    it(
      "leave a run of the newer one to the newer one",
      onBench(async (bench) => {
        const newer = bench.engine({ workerId: "newer", journal: NEWER });
        newer.define("work", toBody("newer"));
        await newer.submit("work", null, RUN);
        await until(async () => (await bench.countSteps("run_1")) === 1);
        newer.crash();
        const older = bench.engine({ workerId: "older" });
        older.define("work", toBody("older"));
        assert.deepEqual(await older.start(), []);
        await assert.rejects(older.resume("run_1"), {
          code: "conflict",
          message: /newer Offshoot/,
        });
        const left = await older.status("run_1");
        assert.deepEqual([left?.epoch, left?.owner, left?.status], [1, "newer", "running"]);
        const next = bench.engine({ workerId: "next", journal: NEWER });
        next.define("work", toBody("next"));
        assert.deepEqual(await next.start(), ["run_1"]);
        assert.equal((await next.result("run_1")).result, "next");
      }),
    );

    it(
      "give a run of the older one to both, and after the newer one ran it only to that",
      onBench(async (bench) => {
        const older = bench.engine({ workerId: "older" });
        const newer = bench.engine({ workerId: "newer", journal: NEWER });
        older.define("work", toBody("older"));
        await older.submit("work", null, RUN);
        await until(async () => (await bench.countSteps("run_1")) === 1);
        older.crash();
        const stuck = createGate();
        newer.define("work", () => stuck.opened.then(() => completed("newer")));
        assert.deepEqual(await newer.start(), ["run_1"]);
        newer.crash();
        const again = bench.engine({ workerId: "again" });
        again.define("work", toBody("again"));
        assert.deepEqual(await again.start(), []);
        assert.equal((await again.status("run_1"))?.epoch, 2);
      }),
    );

    it(
      "take out of a queue only runs that they know",
      onBench(async (bench) => {
        const older = bench.engine({ workerId: "older" });
        const newer = bench.engine({ workerId: "newer", journal: NEWER });
        const queue = { ...QUEUE, toFull: () => new Error("full") };
        // It leaves its run to others, and has no room itself.
        newer.defineQueue("queue", { atOnce: 5, here: 0 });
        newer.define("work", toBody("newer"));
        await newer.submit("work", null, { ...RUN, queue });
        older.defineQueue("queue", { atOnce: 5 });
        older.define("work", toBody("older"));
        await older.start();
        assert.equal(await older.countWaiting("queue"), 1);
        const next = bench.engine({ workerId: "next", journal: NEWER });
        next.defineQueue("queue", { atOnce: 5 });
        next.define("work", toBody("next"));
        await next.start();
        assert.equal((await next.result("run_1")).result, "next");
      }),
    );
  });
}
