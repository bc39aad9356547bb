/** Runs that a program begins in a queue of the engine. */

import assert from "node:assert/strict";
import { it } from "node:test";
import type { QueuedPlace } from "../../src/engine/engine.ts";
import type { InnerRunRequest } from "../../src/runtime/run-request.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";

it("a run whose queue is full is refused, and its session can be used", async (t) => {
  const runtime = await createRuntime({ env: {} });
  t.after(() => runtime.close());
  runtime.engine.defineQueue("none", { atOnce: 0 });
  const queue: QueuedPlace = {
    ...{ name: "none", lane: "", maxWaiting: 0, placement: "queue" },
    toFull: () => new Error("All places are taken."),
  };
  const asked = { model: "embedded/offline", input: "compute 6*7", tools: [] };
  const first = await runtime.run({ ...asked, session: "new" });
  await first.result();
  const refused: InnerRunRequest = { ...asked, session: first.id, queue };
  await assert.rejects(runtime.run(refused), /All places are taken/);
  const next = await runtime.run({ ...asked, session: first.id });
  assert.equal((await next.result()).output_text, "6*7 = 42");
  assert.equal((await runtime.engine.record.listRuns({ limit: 9 })).length, 2);
});
