import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NOTHING } from "../../src/agent/limits.ts";
import type { ChildReport } from "../../src/delegation/child.ts";
import { toEnvelope } from "../../src/delegation/envelope.ts";
import { tellEnding } from "../../src/delegation/tell-ending.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";

const REPORT: ChildReport = {
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
};

const NAMED = { label: "a", depth: 1 };
const SIX = [
  ...["subagent_label", "recursion_depth", "completion_status"],
  ...["turns_used", "max_turns_reached", "tokens_consumed"],
];
const LIMIT = "The run stopped at its limit of 3 turns.";
const BUDGET = "Its share of $0.02 is used up, and no more of the budget is left for it.";
const LATE = "The run took longer than 30 s.";

interface Told {
  readonly success: boolean;
  readonly output: string;
  /** What comes after the words that every failure begins with; null for none. */
  readonly error: string | null;
  /** `completion_status`, `max_turns_reached`, `incomplete_reason`; undefined for a failure. */
  readonly status?: readonly [string, string, string | undefined];
  readonly events: readonly string[];
}

/** By what the child's report says. */
const ENDED: readonly [name: string, report: Partial<ChildReport>, told: Told][] = [
  [
    "completed",
    { text: "All of it." },
    {
      success: true,
      output: "All of it.",
      error: null,
      events: ["complete"],
      status: ["complete", "false", undefined],
    },
  ],
  [
    "completed without a word",
    { text: " \n" },
    { success: false, output: " \n", error: "it gave no answer", events: ["error"] },
  ],
  [
    "max_turns with text",
    { ending: "max_turns", message: LIMIT, text: "Half of it." },
    {
      success: true,
      output: "Half of it.",
      error: null,
      status: ["incomplete", "true", LIMIT],
      events: ["max_turns_exceeded", "complete"],
    },
  ],
  [
    "max_turns without text",
    { ending: "max_turns", message: LIMIT, text: "" },
    { success: false, output: "", error: LIMIT, events: ["max_turns_exceeded", "error"] },
  ],
  [
    "budget with text",
    { ending: "budget", message: BUDGET, text: "Half of it." },
    {
      success: true,
      output: "Half of it.",
      error: null,
      events: ["complete"],
      status: ["incomplete", "false", BUDGET],
    },
  ],
  [
    "budget with a document",
    { ending: "budget", message: BUDGET, text: "", json: { half: true } },
    {
      success: true,
      output: '{"half":true}',
      error: null,
      events: ["complete"],
      status: ["incomplete", "false", BUDGET],
    },
  ],
  [
    "budget without text",
    { ending: "budget", message: BUDGET, text: "" },
    { success: false, output: "", error: BUDGET, events: ["error"] },
  ],
  [
    "timeout with text",
    { ending: "timeout", message: LATE, text: "Half of it." },
    { success: false, output: "Half of it.", error: LATE, events: ["error"] },
  ],
  [
    "timeout without text",
    { ending: "timeout", message: LATE, text: "" },
    { success: false, output: "", error: LATE, events: ["error"] },
  ],
  [
    "cancelled",
    { ending: "cancelled", message: "Its parent stopped it.", text: "Half." },
    { success: false, output: "Half.", error: "Its parent stopped it.", events: ["error"] },
  ],
  [
    "refused",
    { ending: "refused", message: "The model declined to answer.", text: "I cannot." },
    {
      success: false,
      output: "I cannot.",
      error: "The model declined to answer.",
      events: ["error"],
    },
  ],
  [
    "failed",
    { ending: "failed", message: "The server broke.", text: "Half." },
    { success: false, output: "Half.", error: "The server broke.", events: ["error"] },
  ],
];

describe("the report of an ending to a parent's model and to the log", () => {
  for (const [name, report, told] of ENDED) {
    it(name, () => {
      const observed: string[] = [];
      const observe = ({ event }: { readonly event: string }): unknown => observed.push(event);
      const whole = { ...REPORT, ...report };
      const envelope = toEnvelope(NAMED, whole, { maxBytes: 4096, observe });
      tellEnding({ observe }, NAMED, { report: whole, envelope });
      const error = told.error === null ? null : `Subagent execution failed: ${told.error}`;
      const { metadata } = envelope;
      assert.deepEqual(
        [envelope.success, envelope.output, envelope.error],
        [told.success, told.output, error],
      );
      assert.deepEqual(observed, told.events);
      assert.ok(Object.values(metadata).every((value) => typeof value === "string"));
      const { completion_status, max_turns_reached, incomplete_reason } = metadata;
      assert.deepEqual(
        [completion_status, max_turns_reached, incomplete_reason],
        told.status ?? [undefined, undefined, undefined],
      );
      const reason = told.status?.[2] === undefined ? [] : ["incomplete_reason"];
      const keys = told.success ? [...SIX, ...reason] : SIX.slice(0, 2);
      assert.deepEqual(Object.keys(metadata), keys);
    });
  }
});

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
