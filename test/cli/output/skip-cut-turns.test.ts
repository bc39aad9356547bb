import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Projection } from "../../../src/cli/output/projection.ts";
import { skipCutTurns } from "../../../src/cli/output/skip-cut-turns.ts";
import type { LoggedEvent, RunEvent } from "../../../src/protocol/run-events.ts";
import { compaction, message, runEnd, runStart, toLog, turn } from "../../responses/logged-run.ts";

const resumed: RunEvent = { type: "run_resume", epoch: 2, at_ms: 0 };
const cut = turn(1, ...message(0, "Half")).slice(0, -2);
const whole = turn(1, ...message(0, "Whole"));

/** The shown part of a log whose first events were there before. */
async function shownOf(events: readonly RunEvent[], before: number): Promise<RunEvent[]> {
  const shown: LoggedEvent[] = [];
  const projection: Projection = { write: async (batch) => void shown.push(...batch) };
  const skipping = skipCutTurns(projection, before);
  // One event in each batch, so that later events are not known.
  for (const logged of toLog(events)) await skipping.write([logged]);
  return shown.map(({ event }) => event);
}

describe("skipCutTurns", () => {
  it("leaves out a turn that was interrupted and started again", async () => {
    const log = [runStart(), ...cut, resumed, ...whole, runEnd()];
    const expected = [runStart(), resumed, ...whole, runEnd()];
    assert.deepEqual(await shownOf(log, cut.length + 1), expected);
    assert.deepEqual(await shownOf(log, log.length), expected);
  });

  it("shows what finished before the interruption", async () => {
    const again = turn(2, ...message(0, "Second"));
    const log = [runStart(), ...whole, ...again.slice(0, 3), resumed, ...again, runEnd()];
    const expected = [runStart(), ...whole, resumed, ...again, runEnd()];
    assert.deepEqual(await shownOf(log, whole.length + 4), expected);
  });

  it("shows that a conversation was compacted, and not the turn that was refused before", async () => {
    const [refused] = whole;
    assert.ok(refused);
    const log = [runStart(), refused, compaction(1), ...whole, runEnd()];
    const expected = [runStart(), compaction(1), ...whole, runEnd()];
    assert.deepEqual(await shownOf(log, log.length), expected);
  });

  it("passes live events on at once, also of an unfinished turn", async () => {
    const log = [runStart(), ...cut, runEnd()];
    assert.deepEqual(await shownOf(log, 1), log);
    assert.deepEqual(await shownOf(log, 0), log);
  });
});
