import assert from "node:assert/strict";
import { it } from "node:test";
import { onlyRoot } from "../../../src/cli/output/output.ts";
import type { LoggedEvent } from "../../../src/protocol/run-events.ts";
import { runEnd, runStart, toLog } from "../../responses/logged-run.ts";

it("a form for one run sees only the run of the first event", async () => {
  const seen: LoggedEvent[] = [];
  const form = onlyRoot({ write: async (events) => void seen.push(...events) });
  const own = toLog([runStart(), runEnd()]);
  const below = own.map((logged) => ({ ...logged, run_id: "run_01/a" }));
  for (const batch of [own.slice(0, 1), below, own.slice(1)]) await form.write(batch);
  assert.deepEqual(seen, own);
});
