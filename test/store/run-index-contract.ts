/** Queries over all runs of a record, for every implementation. Each implementation calls this. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeptRecord } from "../../src/store/kept.ts";
import type { RunListQuery, UsageSum } from "../../src/store/run-index.ts";
import {
  begin,
  childStart,
  DAY,
  decision,
  finish,
  NOW,
  question,
  task,
  toolEnd,
  toolStart,
  turnEnd,
  turnStart,
  WINDOW,
} from "./noted-events.ts";
import { newRun } from "./store-contract.ts";

export function describeRunIndex(name: string, open: () => Promise<KeptRecord>): void {
  const list = async (kept: KeptRecord, query: Partial<RunListQuery> = {}): Promise<string[]> => {
    const index = await kept.index();
    const rows = await index.listRuns({ tenant: undefined, limit: 100, ...query });
    return rows.map(({ id }) => id);
  };

  describe(`${name}: the index of runs`, () => {
    it("lists runs without a parent, the newest first, a page at a time", async () => {
      const kept = await open();
      const store = await kept.runs();
      for (const [id, at] of [
        ["run_a", 1],
        ["run_b", 3],
        ["run_c", 3],
        ["run_d", 2],
      ] as const) {
        await store.createRun(newRun(id, { created_at_ms: at }));
      }
      await store.createRun(newRun("run_b/x", { parent_id: "run_b", created_at_ms: 9 }));
      assert.deepEqual(await list(kept), ["run_c", "run_b", "run_d", "run_a"]);
      const before = { created_at_ms: 3, id: "run_b" };
      assert.deepEqual(await list(kept, { before, limit: 1 }), ["run_d"]);
      assert.deepEqual(await list(kept, { parent: "run_b" }), ["run_b/x"]);
    });

    it("filters by a run's kind, input and result", async () => {
      const kept = await open();
      const store = await kept.runs();
      await begin(store, task("run_1", { title: "Count the Lines", tenant: "acme" }));
      await begin(store, {
        ...task("run_2", { created_at_ms: NOW + 5 }),
        input: {
          model: "acme/small",
          items: [],
          label: "tester",
          root: "/srv/  two",
          session: { id: "conv_1" },
          response: { key_id: "key_7" },
        },
      });
      await store.createRun(newRun("run_2/a", { parent_id: "run_2", input: null }));
      await finish(store, "run_1", "failed");
      const cases: [Partial<RunListQuery>, string[]][] = [
        [{ status: "running" }, ["run_2"]],
        [{ status: "ended" }, ["run_1"]],
        [{ ending: "failed" }, ["run_1"]],
        [{ ending: "completed" }, []],
        [{ model: "acme/small" }, ["run_2"]],
        [{ agent: "tester" }, ["run_2"]],
        [{ agent: "reviewer" }, ["run_1"]],
        [{ key_id: "key_7" }, ["run_2"]],
        [{ session: "conv_1" }, ["run_2"]],
        [{ folder: "/srv/  two" }, ["run_2"]],
        [{ tenant: "acme" }, ["run_1"]],
        [{ tenant: "default" }, ["run_2"]],
        [{ tenant: "other" }, []],
        [{ from_ms: NOW + 1 }, ["run_2"]],
        [{ to_ms: NOW + 5 }, ["run_1"]],
        [{ search: "lines COUNT" }, ["run_1"]],
        [{ search: "lines nothing" }, []],
        [{ search: "run_2" }, ["run_2"]],
        [{ name: "response" }, []],
      ];
      for (const [query, expected] of cases) {
        assert.deepEqual(await list(kept, query), expected, JSON.stringify(query));
      }
      const child = await (await kept.index()).getRow("run_2/a");
      assert.deepEqual(
        [child?.key_id, child?.tenant, child?.root_id],
        ["key_7", "default", "run_2"],
      );
    });

    it("reports the state of a run", async () => {
      const kept = await open();
      const store = await kept.runs();
      const index = await kept.index();
      await begin(store, task("run_1"));
      await store.append("run_1", 1, 0, [turnStart(1, 0), toolStart("c1", "shell", 20)]);
      const open1 = await index.getRow("run_1");
      assert.deepEqual(
        [open1?.status, open1?.turns, open1?.calls, open1?.turn_at_ms],
        ["running", 1, 1, NOW],
      );
      await finish(store, "run_1", "failed", { message: "It  broke." });
      const { turn_at_ms, status, ending, message, ended_at_ms } =
        (await index.getRow("run_1")) ?? {};
      assert.deepEqual(
        { turn_at_ms, status, ending, message, ended_at_ms },
        {
          turn_at_ms: null,
          status: "ended",
          ending: "failed",
          message: "It broke.",
          ended_at_ms: NOW + 999,
        },
      );
      const spans = await index.listSpans("run_1");
      assert.deepEqual(
        spans.map((span) => span.status),
        ["cut", "cut"],
      );
    });

    it("stores what a model call used with the step that ended it", async () => {
      const kept = await open();
      const store = await kept.runs();
      const index = await kept.index();
      await begin(store, task("run_1"));
      await store.append("run_1", 1, 0, [turnStart(1, 0)]);
      assert.deepEqual(await index.sumUsage({ ...WINDOW, by: "model", daily: true, limit: 9 }), []);
      const last = { firstSeq: 1, events: [turnEnd(1, 250, { usd: 0.5 })] };
      await store.saveStep("run_1", 1, { key: "model:1", value: null, last });
      await store.append("run_1", 1, 2, [turnStart(2, 300)]);
      const second = { firstSeq: 3, events: [turnEnd(2, 400, { usd: null, model: "acme/other" })] };
      await store.saveStep("run_1", 1, { key: "model:2", value: null, last: second });
      const used = { input_tokens: 10, cached_tokens: 4, output_tokens: 5, reasoning_tokens: 2 };
      const sums = await index.sumUsage({ ...WINDOW, by: "model", daily: true, limit: 9 });
      assert.deepEqual(sums, [
        {
          day: DAY,
          key: "acme/large",
          calls: 1,
          ...used,
          known_usd: 0.5,
          unpriced_calls: 0,
          ms: 250,
        },
        {
          day: DAY,
          key: "acme/other",
          calls: 1,
          ...used,
          known_usd: 0,
          unpriced_calls: 1,
          ms: 100,
        },
      ]);
      const [agent] = await index.sumUsage({ ...WINDOW, by: "agent", daily: false, limit: 9 });
      assert.deepEqual(
        [agent?.day, agent?.key, agent?.calls, agent?.ms],
        [null, "reviewer", 2, 350],
      );
      assert.deepEqual(
        await index.sumUsage({ ...WINDOW, tenant: "other", by: "key", daily: false, limit: 9 }),
        [],
      );
      const [turn] = await index.listSpans("run_1");
      assert.deepEqual(
        [turn?.kind, turn?.turn, turn?.status, turn?.input_tokens, turn?.usd, turn?.ended_at_ms],
        ["turn", 1, "ok", 10, 0.5, NOW + 250],
      );
    });

    it("counts what interrupted calls used, as the ending of the run says", async () => {
      const kept = await open();
      const store = await kept.runs();
      await begin(store, task("run_1"));
      await store.append("run_1", 1, 0, [turnStart(1, 0), turnEnd(1, 10, { usd: 1 })]);
      await store.append("run_1", 1, 2, [turnStart(2, 20)]);
      await finish(store, "run_1", "cancelled", { usage: { input: 30, output: 6 }, cost_usd: 3 });
      const index = await kept.index();
      const [sum] = await index.sumUsage({
        ...WINDOW,
        by: "root",
        daily: false,
        limit: 9,
        roots: ["run_1"],
      });
      assert.deepEqual(
        [sum?.key, sum?.calls, sum?.input_tokens, sum?.output_tokens, sum?.known_usd],
        ["run_1", 2, 30, 6, 3],
      );
    });

    it("keeps the usage of a run that is deleted, and nothing else of it", async () => {
      const kept = await open();
      const store = await kept.runs();
      const index = await kept.index();
      await begin(store, task("run_1"));
      await store.append("run_1", 1, 0, [
        turnStart(1, 0),
        turnEnd(1, 10, { usd: 1 }),
        question("q"),
      ]);
      await store.deleteTree("run_1");
      assert.equal(await index.getRow("run_1"), undefined);
      assert.deepEqual(await index.listSpans("run_1"), []);
      assert.deepEqual(await index.listQuestions({ tenant: undefined, limit: 9 }), []);
      const sums = await index.sumUsage({ ...WINDOW, by: "tenant", daily: true, limit: 9 });
      assert.deepEqual(
        sums.map(({ key, known_usd }) => [key, known_usd]),
        [["default", 1]],
      );
    });

    it("keeps no text of a model in the usage of a subagent that is deleted", async () => {
      const kept = await open();
      const store = await kept.runs();
      const child = { model: "acme/large", items: [], label: "my secret", agent: "reviewer" };
      await begin(store, task("run_1"));
      await begin(
        store,
        task("run_1/my-secret-1.0", { parent_id: "run_1", input: { ...child, root: "/srv/one" } }),
      );
      const turns = [turnStart(1, 0), turnEnd(1, 9, { usd: 1 }), turnStart(2, 10)];
      await store.append("run_1/my-secret-1.0", 1, 0, [...turns, turnEnd(2, 20, { usd: 2 })]);
      const index = await kept.index();
      const sum = { ...WINDOW, by: "agent", daily: false, limit: 9 } as const;
      assert.deepEqual(toSpent(await index.sumUsage(sum)), [["my secret", 3]]);
      await store.deleteTree("run_1");
      assert.deepEqual(toSpent(await index.sumUsage(sum)), [["reviewer", 3]]);
      const byRoot = await index.sumUsage({ ...sum, by: "root", roots: ["run_1"] });
      assert.deepEqual(toSpent(byRoot), [["run_1", 3]]);
    });

    it("sums the calls of tools: failed, denied, how long", async () => {
      const kept = await open();
      const store = await kept.runs();
      await begin(store, task("run_1", { tenant: "acme" }));
      await store.append("run_1", 1, 0, [
        ...[turnStart(1, 0), toolStart("same", "shell", 10), toolStart("same", "shell", 20)],
        ...[decision("same", "shell", "deny", { at: 30 }), toolEnd("same", "shell", 40, true)],
        ...[decision("same", "shell", "allow", { at: 50 }), toolEnd("same", "shell", 120, true)],
        ...[toolStart("c", "read_file", 130), toolEnd("c", "read_file", 140, false)],
      ]);
      const index = await kept.index();
      assert.deepEqual(await index.sumTools(WINDOW), [
        {
          tool: "shell",
          calls: 2,
          failed: 1,
          denied: 1,
          ms: 130,
          max_ms: 100,
          last_at_ms: NOW + 20,
        },
        {
          tool: "read_file",
          calls: 1,
          failed: 0,
          denied: 0,
          ms: 10,
          max_ms: 10,
          last_at_ms: NOW + 130,
        },
      ]);
      assert.deepEqual(await index.sumTools({ ...WINDOW, tenant: "default" }), []);
      assert.deepEqual(
        await index.sumTools({ ...WINDOW, from_day: "2026-11-19", to_day: "2026-11-19" }),
        [],
      );
    });

    it("lists open questions of all runs, and remembers what was decided", async () => {
      const kept = await open();
      const store = await kept.runs();
      const index = await kept.index();
      await begin(store, task("run_1", { tenant: "acme" }));
      await store.createRun(newRun("run_1/a", { parent_id: "run_1", owner: "w", input: null }));
      await begin(store, task("run_2"));
      await store.append("run_1/a", 1, 0, [toolStart("c", "shell", 0), question("tool:1.0", 5)]);
      await store.append("run_2", 1, 0, [toolStart("c", "shell", 0), question("tool:1.0", 3)]);
      const names = async (query: object = {}): Promise<string[]> => {
        const rows = await index.listQuestions({ tenant: undefined, limit: 9, ...query });
        return rows.map(({ run_id }) => run_id);
      };
      assert.deepEqual(await names(), ["run_2", "run_1/a"]);
      assert.deepEqual(await names({ limit: 1, after: { at_ms: NOW + 3, id: "run_2" } }), [
        "run_1/a",
      ]);
      assert.deepEqual(await names({ tenant: "acme" }), ["run_1/a"]);
      assert.deepEqual(await names({ run: "run_1" }), ["run_1/a"]);
      assert.deepEqual(await list(kept, { waiting: true }), ["run_2", "run_1"]);
      assert.equal((await index.getRow("run_1"))?.waiting, 1);
      const asked = await index.getQuestion("run_2", "tool:1.0");
      assert.deepEqual(
        [asked?.until_ms, asked?.body["arguments"], asked?.verdict],
        [NOW + 60_000, '{"a":"\\u0000"}', null],
      );
      await store.append("run_2", 1, 2, [
        decision("c", "shell", "deny", { at: 9, asked: "tool:1.0" }),
      ]);
      assert.deepEqual(await names(), ["run_1/a"]);
      const decided = await index.getQuestion("run_2", "tool:1.0");
      assert.deepEqual(
        [decided?.closed_at_ms, decided?.verdict, decided?.reason],
        [NOW + 9, "deny", "because"],
      );
      await finish(store, "run_1/a", "completed");
      assert.deepEqual(await names(), [], "an ended run has no open question");
    });

    it("closes what a dead process left open, and accepts the question again", async () => {
      const kept = await open();
      const store = await kept.runs();
      const index = await kept.index();
      await begin(store, task("run_1"));
      await store.append("run_1", 1, 0, [
        turnStart(1, 0),
        toolStart("c", "shell", 5),
        question("q", 6),
      ]);
      await store.append("run_1", 1, 3, [{ type: "run_resume", epoch: 2, at_ms: NOW + 50 }]);
      assert.deepEqual(await index.listQuestions({ tenant: undefined, limit: 9 }), []);
      assert.equal((await index.getRow("run_1"))?.calls, 0);
      const again = [turnStart(1, 60), toolStart("c", "shell", 65), question("q", 66)];
      await store.append("run_1", 1, 4, again);
      const [open1, more] = await index.listQuestions({ tenant: undefined, limit: 9 });
      assert.deepEqual([open1?.question, open1?.at_ms, more], ["q", NOW + 66, undefined]);
      const row = await index.getRow("run_1");
      assert.deepEqual([row?.turns, row?.calls], [1, 1]);
      const spans = await index.listSpans("run_1");
      assert.deepEqual(
        spans.map((span) => span.status),
        ["cut", "cut", "open", "open"],
      );
    });

    it("gives a tree with the spans of all its runs, by run and number", async () => {
      const kept = await open();
      const store = await kept.runs();
      const index = await kept.index();
      await begin(store, task("run_1"));
      await begin(store, task("run_10"));
      const before = await index.countTree("run_1");
      await store.append("run_1", 1, 0, [turnStart(1, 0), toolStart("c", "call_subagent", 5)]);
      await store.append("run_1", 1, 2, [childStart("run_1/a-1.0", "a", 6)]);
      await store.createRun(newRun("run_1/a-1.0", { parent_id: "run_1", owner: "w", input: null }));
      await store.append("run_1/a-1.0", 1, 0, [turnStart(1, 8)]);
      assert.deepEqual(
        (await index.listTree("run_1")).map(({ id }) => id),
        ["run_1", "run_1/a-1.0"],
      );
      assert.deepEqual(
        (await index.listSpans("run_1")).map(({ run_id, seq, kind, key }) => [
          run_id,
          seq,
          kind,
          key,
        ]),
        [
          ["run_1", 0, "turn", null],
          ["run_1", 1, "call", "c"],
          ["run_1", 2, "child", "run_1/a-1.0"],
          ["run_1/a-1.0", 0, "turn", null],
        ],
      );
      assert.deepEqual((await index.listSpans("run_1/a-1.0")).length, 1);
      assert.notEqual(await index.countTree("run_1"), before);
    });
  });
}

function toSpent(sums: readonly UsageSum[]): unknown[] {
  return sums.map(({ key, known_usd }) => [key, known_usd]);
}
