import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type AgentChange,
  type AgentState,
  toChange,
  toNextState,
} from "../../../src/responses/multi-agent/agent-states.ts";

const CHANGES: readonly AgentChange[] = ["starts", "answers", "fails", "stops", "asks"];
const ALLOWED: Readonly<
  Record<AgentState | "not there", Partial<Record<AgentChange, AgentState>>>
> = {
  "not there": { starts: "running" },
  running: {
    answers: "completed",
    fails: "failed",
    stops: "interrupted",
    asks: "waiting_for_client",
  },
  completed: { starts: "running" },
  failed: { starts: "running" },
  interrupted: { starts: "running" },
  waiting_for_client: { starts: "running", fails: "failed" },
};

describe("the states of an agent", () => {
  for (const [name, next] of Object.entries(ALLOWED)) {
    const state = name === "not there" ? undefined : (name as AgentState);
    for (const change of CHANGES) {
      const expected = next[change];
      it(`of one that is ${name} when it ${change}: ${expected ?? "a defect"}`, () => {
        if (expected) assert.equal(toNextState(state, change), expected);
        else assert.throws(() => toNextState(state, change), { code: "internal" });
      });
    }
  }

  it("follow from how its run ended", () => {
    assert.equal(toChange({ ending: "completed", waits: undefined }), "answers");
    assert.equal(toChange({ ending: "completed", waits: true }), "asks");
    assert.equal(toChange({ ending: "cancelled", waits: undefined }), "stops");
    assert.equal(toChange({ ending: "budget", waits: undefined }), "fails");
  });
});
