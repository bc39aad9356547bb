/** What happens to a run if its process dies, or its record fails, between the writes that begin it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunContext } from "../../src/engine/engine.ts";
import { onBenches, settle, until } from "./engine-fixture.ts";
import type { LocalBench } from "./local-fixture.ts";

const RUN = { id: "run_1", title: "a run" };

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
        await settle();
        bench.clock.advance(5000);
        await settle();
        assert.equal((await second.status("run_1"))?.ending, "timeout");
      }),
    );
  });
}
