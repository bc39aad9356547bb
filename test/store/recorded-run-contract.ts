/** A run that is written down after it has ended is the same as one that was followed. For every store. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeptRecord } from "../../src/store/kept.ts";
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

export function describeRecordedRuns(name: string, open: () => Promise<KeptRecord>): void {
  describe(`a run that has ended already (${name})`, () => {
    it("reads the same as a run that was followed", async () => {
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

    it("is written once with its things and what its key pays, also among many at once", async () => {
      const kept = await open();
      const store = await kept.runs();
      const shelf = await kept.shelf();
      const spending = await kept.spending();
      const record = (at: number): Promise<boolean> => {
        const id = `run_${at}`;
        const thing = { tenant: "acme", kind: "response", id: `resp_${at}`, parent: null };
        const times = { created_at_ms: NOW, expires_at_ms: null };
        const below = { ...thing, kind: "output", parent: thing.id };
        const settles = { keyId: "key", used: { tokens: 10, usd: at }, nowMs: NOW };
        return store.recordRun(
          {
            ...task(id, { tenant: "acme", title: `\ud800${at}` }),
            things: [{ ...thing, ...times, body: at }],
          },
          {
            ending: "completed",
            result: { at },
            events: [
              turnStart(1, 0),
              turnEnd(1, 10, { usd: at }),
              toRunEnd({ input: 9, output: 1 }),
            ],
            at_ms: NOW + 60,
            things: [{ ...below, ...times, body: [`\0${at}`] }],
            settles,
          },
        );
      };
      const many = Array.from({ length: 9 }, (_, at) => at);
      // Some of them twice.
      const written = await Promise.all([...many, ...many.slice(0, 4)].map(record));
      assert.deepEqual(written, [...many.map(() => true), ...Array(4).fill(false)]);
      for (const at of many) {
        const run = await store.getRun(`run_${at}`);
        assert.deepEqual([run?.status, run?.result, run?.title], ["ended", { at }, `\ud800${at}`]);
        assert.equal((await store.readEvents(`run_${at}`, -1, 9)).length, 3);
        const kinds = ["response", "output"].map((kind) => ({
          tenant: "acme",
          kind,
          id: `resp_${at}`,
        }));
        const bodies = await Promise.all(kinds.map(async (one) => (await shelf.get(one))?.body));
        assert.deepEqual(bodies, [at, [`\0${at}`]]);
      }
      const { total } = await spending.read("key", NOW);
      assert.deepEqual([total.tokens, total.usd], [90, 36]);
    });
  });
}
