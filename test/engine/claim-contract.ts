/** What happens to a run if its process dies, or its record fails, between the writes that begin it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { RunContext } from "../../src/engine/engine.ts";
import { completed, onBenches, until } from "./engine-fixture.ts";
import { type LocalBench, wrapStore } from "./local-fixture.ts";

const RUN = { id: "run_1", title: "a run" };
const SILENT = new Failure("store_busy", "The record is silent.");

const untilAborted = (context: RunContext): Promise<never> =>
  new Promise((_, reject) => {
    context.signal.addEventListener("abort", () => reject(context.signal.reason), { once: true });
  });

export function describeClaims(name: string, openBench: () => Promise<LocalBench>): void {
  const onBench = onBenches(openBench);

  describe(`${name}: a run that is begun`, () => {
    it(
      "has its time limit also if its process dies right after it was written down",
      onBench(async (bench) => {
        const crash = (method: string): undefined => {
          if (method === "createRun") first.crash();
        };
        const first = bench.engine({ faults: { loseAnswer: crash } });
        const second = bench.engine();
        for (const engine of [first, second]) engine.define("agent", untilAborted);
        void first.submit("agent", null, { ...RUN, timeoutMs: 5000 }).catch(() => {});
        await until(async () => (await second.status("run_1")) !== undefined);
        await second.resume("run_1");
        await until(async () => {
          bench.clock.advance(5000);
          return (await second.status("run_1"))?.status === "ended";
        });
        assert.equal((await second.status("run_1"))?.ending, "timeout");
      }),
    );

    it(
      "is not refused because the record was silent for one before it",
      onBench(async (bench) => {
        let isSilent = true;
        const loseAnswer = (method: string): Failure | undefined =>
          isSilent && method === "beat" ? SILENT : undefined;
        const engine = bench.engine({ faults: { loseAnswer } });
        engine.define("agent", async () => completed("done"));
        const refused = engine.submit("agent", null, { ...RUN, id: "run_0" });
        await assert.rejects(refused, { code: "store_busy" });
        isSilent = false;
        await engine.submit("agent", null, RUN);
        assert.equal((await engine.result("run_1")).result, "done");
      }),
    );

    it(
      "is taken over with the next start if the record fails after its claim",
      onBench(async (bench) => {
        const first = bench.engine();
        first.define("agent", untilAborted);
        await first.submit("agent", null, RUN);
        first.crash();
        let isSilent = true;
        const loseAnswer = (method: string): Failure | undefined =>
          isSilent && method === "findSignals" ? SILENT : undefined;
        const second = bench.engine({ faults: { loseAnswer } });
        second.define("agent", async () => completed("done"));
        await assert.rejects(second.start(), { code: "store_busy" });
        isSilent = false;
        assert.deepEqual(await second.start(), ["run_1"]);
        assert.equal((await second.result("run_1")).result, "done");
      }),
    );

    it(
      "is taken over also if another one cannot be read",
      onBench(async (bench) => {
        const first = bench.engine();
        first.define("agent", untilAborted);
        for (const id of ["run_1", "run_2"]) await first.submit("agent", null, { ...RUN, id });
        first.crash();
        const store = wrapStore(bench.store, (method, call) => async (...values) => {
          if (method === "getRun" && values[0] === "run_1") throw SILENT;
          return await call(...values);
        });
        const second = bench.engine({ store });
        second.define("agent", async () => completed("done"));
        await assert.rejects(second.start(), { code: "store_busy" });
        assert.equal((await second.result("run_2")).result, "done");
      }),
    );
  });
}
