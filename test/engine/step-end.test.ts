/** The last events of a step and its journal entry: no crash comes between them. */

import assert from "node:assert/strict";
import { it } from "node:test";
import type { FinishedStep } from "../../src/store/journal.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { completed, notice, readAll, toTexts } from "./engine-fixture.ts";
import { openLocalBench, openMemoryRecord } from "./local-fixture.ts";

it("writes a step's last events with its journal entry, after the others", async () => {
  const saved: FinishedStep[] = [];
  const bench = await openLocalBench(() => openMemoryRecord(createNotedStore(saved)));
  const engine = bench.engine();
  engine.define("agent", async (context) => {
    await context.step("one", async (step) => {
      void context.emit([notice("a")]);
      step.end([notice("b"), notice("c")]);
      return 1;
    });
    return completed((await context.readLog()).length);
  });
  await engine.submit("agent", null, { id: "run_1", title: "" });
  assert.equal((await engine.result("run_1")).result, 3);
  const last = { firstSeq: 1, events: [notice("b"), notice("c")] };
  assert.deepEqual(saved, [{ key: "one", value: 1, survives: undefined, last }]);
  assert.deepEqual(toTexts(await readAll(engine, "run_1")), ["a", "b", "c", "run_end"]);
  await bench.close();
});

function createNotedStore(saved: FinishedStep[]): Store {
  const store = createMemoryStore();
  const saveStep = store.saveStep.bind(store);
  store.saveStep = async (id, epoch, step) => {
    saved.push(step);
    await saveStep(id, epoch, step);
  };
  return store;
}
