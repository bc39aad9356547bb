import assert from "node:assert/strict";
import { it } from "node:test";
import { openKept } from "../../src/store/open-kept.ts";
import { newDatabasePath } from "./database-path.ts";
import {
  begin,
  decision,
  finish,
  question,
  task,
  toolEnd,
  toolStart,
  turnEnd,
  turnStart,
} from "./noted-events.ts";
import { describeRecordedRuns } from "./recorded-run-contract.ts";
import { describeRunIndex } from "./run-index-contract.ts";

describeRunIndex("memory", () => openKept(undefined));
describeRunIndex("SQLite", () => openKept(newDatabasePath()));
describeRecordedRuns("memory", () => openKept(undefined));
describeRecordedRuns("SQLite", () => openKept(newDatabasePath()));

it("an index in memory is the same whether it is opened before the runs or after them", async () => {
  const told = [];
  for (const isEarly of [true, false]) {
    const kept = await openKept(undefined);
    if (isEarly) await kept.index();
    const store = await kept.runs();
    await begin(store, task("run_1"));
    await begin(store, task("run_1/child", { parent_id: "run_1" }));
    const turn = [turnStart(1, 0), turnEnd(1, 10, { usd: 1 }), toolStart("c", "shell", 20)];
    await store.append("run_1", 1, 0, [...turn, question("q", 25)]);
    await store.append("run_1/child", 1, 0, turn);
    const decided = decision("c", "shell", "allow", { at: 30, asked: "q" });
    await store.append("run_1/child", 1, turn.length, [decided, toolEnd("c", "shell", 40, false)]);
    await finish(store, "run_1/child", "completed", { usage: { input: 90, output: 9 } });
    const index = await kept.index();
    const window = { tenant: undefined, from_day: "2026-11-18", to_day: "2026-11-18" };
    told.push({
      runs: await index.listTree("run_1"),
      spans: await index.listSpans("run_1"),
      usage: await index.sumUsage({ ...window, by: "model", daily: true, limit: 9 }),
      tools: await index.sumTools(window),
      questions: await index.listQuestions({ tenant: undefined, limit: 9 }),
    });
  }
  assert.deepEqual(told[0], told[1]);
  assert.equal(told[0]?.questions.length, 1);
});
