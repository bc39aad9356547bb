import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NOTHING } from "../../src/agent/limits.ts";
import { toEnvelope } from "../../src/delegation/envelope.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";

const REPORT = {
  id: "run_1/a-1.0",
  ending: "completed",
  message: "",
  error: null,
  text: "x".repeat(40),
  json: undefined,
  turns: 1,
  toolCalls: 0,
  usage: NO_USAGE,
  costUsd: null,
  spent: NOTHING,
} as const;

describe("a cut output", () => {
  for (const [isRecorded, where] of [
    [true, "\n(The whole: offshoot runs show run_1/a-1.0)"],
    [false, ""],
  ] as const) {
    it(`ends with the notice, ${isRecorded ? "and" : "but does not"} say where the whole is`, () => {
      const options = { maxBytes: 10, isRecorded, observe() {} };
      const { output } = toEnvelope({ label: "a", depth: 1 }, REPORT, options);
      assert.equal(output, `xxxxxxxxxx${where}\n[Output truncated]`);
    });
  }
});
