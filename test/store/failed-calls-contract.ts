/** Failed calls, the usage of a part of a tree, and news of changes: of any record of runs. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeptRecord } from "../../src/store/kept.ts";
import {
  begin,
  decision,
  finish,
  NOW,
  question,
  task,
  toolEnd,
  toolStart,
  turnEnd,
  turnStart,
} from "./noted-events.ts";

const DAY = "2026-11-18";
const WINDOW = { tenant: undefined, from_day: DAY, to_day: DAY };

export function describeFailedCalls(name: string, open: () => Promise<KeptRecord>): void {
  describe(`${name}: failed calls`, () => {
    it("are listed with who decided, the newest first, a page at a time", async () => {
      const kept = await open();
      const store = await kept.runs();
      await begin(store, task("run_1", { tenant: "acme", title: "Ship it" }));
      await begin(store, task("run_2"));
      await store.append("run_1", 1, 0, [
        ...[
          turnStart(1, 0),
          toolStart("a", "shell", 10),
          decision("a", "shell", "deny", { at: 11 }),
        ],
        ...[
          toolEnd("a", "shell", 12, true),
          toolStart("b", "read", 20),
          toolEnd("b", "read", 25, true),
        ],
        ...[toolStart("c", "read", 30), toolEnd("c", "read", 31, false)],
      ]);
      await store.append("run_2", 1, 0, [
        toolStart("a", "read", 20),
        toolEnd("a", "read", 90, true),
      ]);
      const index = await kept.index();
      const list = async (query: object = {}): Promise<string[]> => {
        const calls = await index.listFailedCalls({ ...WINDOW, limit: 9, ...query });
        return calls.map(({ run_id, seq, tool, status }) => `${run_id}:${seq} ${tool} ${status}`);
      };
      const all = ["run_2:0 read failed", "run_1:4 read failed", "run_1:1 shell denied"];
      assert.deepEqual(await list(), all);
      assert.deepEqual(await list({ status: "denied" }), [all[2]]);
      assert.deepEqual(await list({ tool: "read" }), all.slice(0, 2));
      assert.deepEqual(await list({ tenant: "acme" }), all.slice(1));
      assert.deepEqual(await list({ from_day: "2026-11-19", to_day: "2026-11-19" }), []);
      const before = { at_ms: NOW + 20, run_id: "run_2", seq: 0 };
      assert.deepEqual(await list({ limit: 1, before }), [all[1]]);
      const [, , denied] = await index.listFailedCalls({ ...WINDOW, limit: 9 });
      assert.deepEqual(
        [denied?.decided_by, denied?.at_ms, denied?.ended_at_ms, denied?.title, denied?.root_id],
        ["person", NOW + 10, NOW + 12, "Ship it", "run_1"],
      );
    });

    it("and the usage of a part of a tree is summed by itself", async () => {
      const kept = await open();
      const store = await kept.runs();
      await begin(store, task("run_1"));
      for (const id of ["run_1/a", "run_1/a/deep", "run_1/ab"]) {
        await begin(store, task(id, { parent_id: id.slice(0, id.lastIndexOf("/")) }));
      }
      for (const [id, usd] of [
        ["run_1", 1],
        ["run_1/a", 2],
        ["run_1/a/deep", 4],
        ["run_1/ab", 8],
      ] as const) {
        await store.append(id, 1, 0, [turnStart(1, 0), turnEnd(1, 5, { usd })]);
      }
      const index = await kept.index();
      const sumOf = async (below: string): Promise<number | undefined> => {
        const query = { ...WINDOW, from_day: "", to_day: "", by: "root", daily: false } as const;
        return (await index.sumUsage({ ...query, limit: 9, below }))[0]?.known_usd;
      };
      assert.deepEqual(
        [
          await sumOf("run_1"),
          await sumOf("run_1/a"),
          await sumOf("run_1/ab"),
          await sumOf("run_9"),
        ],
        [15, 6, 8, undefined],
      );
    });

    it("and a change of the lists changes the version of the news, for its tenant", async () => {
      const kept = await open();
      const store = await kept.runs();
      const index = await kept.index();
      let seen = "";
      const look = async (tenant?: string): Promise<string> =>
        (await index.readNews(tenant)).version;
      const isNews = async (what: string): Promise<void> => {
        const version = await look();
        assert.notEqual(version, seen, what);
        assert.equal(await look(), version, "nothing has changed since");
        seen = version;
      };
      await isNews("nothing yet");
      const foreign = await look("other");
      await begin(store, task("run_1", { tenant: "acme" }));
      await isNews("a run");
      await begin(store, task("run_1/a", { parent_id: "run_1", tenant: "acme" }));
      await store.append("run_1/a", 1, 0, [turnStart(1, 0), toolStart("c", "shell", 1)]);
      await isNews("a subagent at work");
      await store.append("run_1/a", 1, 2, [question("tool:1.0", 5)]);
      await isNews("a question");
      assert.equal((await index.readNews("acme")).waiting, 1);
      await store.append("run_1/a", 1, 3, [
        decision("c", "shell", "deny", { at: 9, asked: "tool:1.0" }),
      ]);
      await isNews("an answer");
      await finish(store, "run_1", "completed");
      await isNews("an ending");
      assert.equal(await look("other"), foreign, "another tenant hears nothing of it");
    });
  });
}
