/** Runs of older versions: their rows in the index are made by the migration. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openKept } from "../../src/store/open-kept.ts";
import type { RunIndex } from "../../src/store/run-index.ts";
import { NOTES_TABLES } from "../../src/store/sqlite/notes-tables.ts";
import { openConnection } from "../../src/store/sqlite/sqlite-driver.ts";
import { MIGRATIONS } from "../../src/store/sqlite/tables.ts";
import { newDatabasePath } from "./database-path.ts";
import * as noted from "./noted-events.ts";
import { newRun } from "./store-contract.ts";

const { begin, childStart, decision, finish, question, task, toolEnd, toolStart } = noted;

describe("the index of an older record", () => {
  it("is the same as if the runs had been written now", async () => {
    const path = newDatabasePath();
    const first = await openKept(path);
    const store = await first.runs();
    await begin(store, task("run_1", { tenant: "acme" }));
    await store.append("run_1", 1, 0, [
      ...[noted.turnStart(1, 0), noted.turnEnd(1, 90, { usd: 0.25 })],
      ...[toolStart("c", "shell", 100), question("tool:1.0", 110)],
      decision("c", "shell", "allow", { at: 120, asked: "tool:1.0" }),
      ...[toolEnd("c", "shell", 150, false), childStart("run_1/a-1.0", "a", 160)],
      // In a blob, as every batch over 256 KB.
      { type: "notice", code: "wait", message: "x".repeat(300_000) },
      noted.turnStart(2, 200),
    ]);
    await store.createRun(newRun("run_1/a-1.0", { parent_id: "run_1", owner: "w", input: null }));
    await store.append("run_1/a-1.0", 1, 0, [toolStart("d", "write", 5), question("tool:1.0", 6)]);
    await finish(store, "run_1", "cancelled", { usage: { input: 50, output: 9 }, cost_usd: 1 });
    const expected = await readAll(await first.index());
    await first.close();
    await makeOld(path);
    const second = await openKept(path);
    const found = await readAll(await second.index());
    await second.close();
    assert.deepEqual(found, expected);
    assert.equal(found.runs.length, 2);
    assert.equal(found.questions.length, 1);
    assert.equal(found.usage[0]?.known_usd, 1);
  });
});

async function readAll(index: RunIndex) {
  const days = { tenant: undefined, from_day: "2026-01-01", to_day: "2026-12-31" };
  return {
    runs: await index.listTree("run_1"),
    spans: await index.listSpans("run_1"),
    usage: await index.sumUsage({ ...days, by: "model", daily: true, limit: 99 }),
    tools: await index.sumTools(days),
    questions: await index.listQuestions({ tenant: undefined, limit: 99 }),
    decided: await index.getQuestion("run_1", "tool:1.0"),
  };
}

/** The state that a version without these tables has left. */
async function makeOld(path: string): Promise<void> {
  const connection = await openConnection(path);
  connection.exec("drop trigger facts_over");
  for (const table of ["run_facts", "spans", "usage", "questions"]) {
    connection.exec(`drop table ${table}`);
  }
  connection.exec(`pragma user_version = ${MIGRATIONS.indexOf(NOTES_TABLES)}`);
  connection.close();
}
