import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withoutAbandoned } from "../../src/protocol/abandoned-work.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { childEnd, childStart } from "../delegation/ledger-record.ts";
import {
  compaction,
  functionCall,
  message,
  runEnd,
  runStart,
  toolRun,
  turn,
} from "../responses/logged-run.ts";

const RESUME: RunEvent = { type: "run_resume", epoch: 2, at_ms: 0 };
const call = { call_id: "call_1", name: "read" };
const other = { call_id: "call_2", name: "find" };
const whole = turn(1, ...message(0, "Whole"));
const half = whole.slice(0, -1);

describe("what a takeover abandons", () => {
  it("is the open turn, even if its items had ended", () => {
    const log = [runStart(), ...half, RESUME, ...whole, runEnd()];
    assert.deepEqual(withoutAbandoned(log), [runStart(), RESUME, ...whole, runEnd()]);
  });

  it("is nothing if the run ended in the middle of its work", () => {
    const log = [runStart(), ...half, runEnd({ ending: "cancelled" })];
    assert.deepEqual(withoutAbandoned(log), log);
  });

  it("is a turn that was refused as too long, if the conversation is then shortened", () => {
    const before = turn(1, ...functionCall(0, call, "{}"));
    const [refused, ...rest] = turn(2, ...message(0, "Whole"));
    assert.ok(refused);
    const log = [runStart(), ...before, refused, compaction(2), refused, ...rest];
    assert.deepEqual(withoutAbandoned(log), [
      runStart(),
      ...before,
      compaction(2),
      refused,
      ...rest,
    ]);
    const usual = [runStart(), ...before, compaction(2), refused, ...rest];
    assert.deepEqual(withoutAbandoned(usual), usual);
  });

  it("is the calls in flight, and none that had ended", () => {
    const asked = turn(1, ...functionCall(0, call, "{}"), ...functionCall(1, other, "{}"));
    const [start, end] = toolRun(call, "found");
    const [otherStart, otherEnd] = toolRun(other, "found too");
    const log = [...asked, start, otherStart, otherEnd, RESUME, start, end, ...whole];
    const kept = [...asked, otherStart, otherEnd, RESUME, start, end, ...whole];
    assert.deepEqual(withoutAbandoned(log), kept);
  });

  it("is the news of children that are reported again", () => {
    const [start, end] = toolRun(call, "found");
    const child = [childStart("run_1/a", "count", 1), childEnd("run_1/a", "count")];
    const log = [start, ...child, RESUME, start, ...child, end];
    assert.deepEqual(withoutAbandoned(log), [RESUME, start, ...child, end]);
  });

  it("is not what others sent meanwhile", () => {
    const given: RunEvent = { type: "client_input", agent: "/root", items: [], at_ms: 0 };
    const log = [...half, given, RESUME, ...whole];
    assert.deepEqual(withoutAbandoned(log), [given, RESUME, ...whole]);
  });

  it("is the work of both owners if a run was taken over twice", () => {
    const log = [...half, RESUME, ...half, RESUME, ...whole];
    assert.deepEqual(withoutAbandoned(log), [RESUME, RESUME, ...whole]);
  });
});
