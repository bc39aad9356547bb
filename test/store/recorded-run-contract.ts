/** A run that is written down after it has ended is the same as one that was followed. For every store. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Kept } from "../../src/store/kept.ts";
import {
  begin,
  decision,
  NOW,
  question,
  task,
  toolEnd,
  toolStart,
  toRunEnd,
  turnEnd,
  turnStart,
  WINDOW,
} from "./noted-events.ts";

export function describeRecordedRuns(name: string, open: () => Promise<Kept>): void {
  describe(`a run that has ended already (${name})`, () => {
    it("says the same of a run that is written down after it has ended", async () => {
      const told = [];
      const events = [
        ...[turnStart(1, 0), turnEnd(1, 10, { usd: 1 }), toolStart("c", "shell", 20)],
        ...[question("q", 25), decision("c", "shell", "deny", { at: 30, asked: "q" })],
        ...[toolEnd("c", "shell", 40, true), turnStart(2, 50), toRunEnd({ input: 90, output: 9 })],
      ];
      const run = task("run_1", { tenant: "acme", title: 'a "title"\0' });
      for (const isRecorded of [true, false]) {
        const kept = await open();
        const store = await kept.runs();
        const end = { ending: "failed", result: { a: 1 }, events, at_ms: NOW + 60 } as const;
        if (isRecorded) {
          assert.equal(await store.recordRun(run, end), true);
          assert.equal(await store.recordRun(run, end), false, "it is there once");
        } else {
          await begin(store, run);
          await store.finish("run_1", 1, { ...end, firstSeq: 0 });
        }
        const index = await kept.index();
        const window = { ...WINDOW, daily: true, limit: 9 } as const;
        const found = (await store.getRun("run_1")) ?? assert.fail();
        told.push({
          run: { ...found, owner: null },
          log: await store.readEvents("run_1", -1, 99),
          steps: (await store.readSteps("run_1")).size,
          row: await index.getRow("run_1"),
          spans: await index.listSpans("run_1"),
          usage: await index.sumUsage({ ...window, by: "model" }),
          tools: await index.sumTools(WINDOW),
          asked: await index.getQuestion("run_1", "q"),
          bytes: await (await kept.shelf()).countBytes("acme"),
        });
      }
      assert.deepEqual(told[0], told[1]);
      assert.equal(told[0]?.spans.length, 3);
    });
  });
}
