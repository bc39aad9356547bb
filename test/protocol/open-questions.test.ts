import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createOpenToolQuestions } from "../../src/protocol/open-questions.ts";
import type { RunEvent, ToolDecision } from "../../src/protocol/run-events.ts";
import type { ToolQuestion } from "../../src/protocol/tool-question.ts";

const asked = (question: string): ToolQuestion => ({
  type: "tool_question",
  question,
  call_id: "call_1",
  name: "shell",
  arguments: "{}",
  effect: "execute",
  reason: "",
  sandbox: "none",
  always: [],
  asker: null,
  until_ms: null,
  at_ms: 0,
});

const decided = (question?: string): ToolDecision => ({
  type: "tool_decision",
  call_id: "call_1",
  name: "shell",
  verdict: "allow",
  by: "person",
  rule: null,
  source: null,
  reason: "",
  sandbox: "none",
  question,
  at_ms: 0,
});

const resume: RunEvent = { type: "run_resume", epoch: 2, at_ms: 0 };

describe("the open questions of a log", () => {
  const rows: readonly [what: string, log: readonly RunEvent[], open: readonly string[]][] = [
    ["a log from before there were questions has none", [decided(), decided()], []],
    ["one is open until its decision", [asked("a")], ["a"]],
    ["its decision closes it", [asked("a"), decided("a")], []],
    ["calls with one id have one each", [asked("a"), asked("b"), decided("a")], ["b"]],
    ["a decision that closes none closes none", [asked("a"), decided()], ["a"]],
    ["a takeover asks again", [asked("a"), resume], []],
    ["what it asks is open", [asked("a"), resume, asked("a")], ["a"]],
  ];
  for (const [what, log, open] of rows) {
    it(what, () => {
      const questions = createOpenToolQuestions();
      for (const event of log) questions.read(event);
      assert.deepEqual(
        questions.open.map(({ question }) => question),
        open,
      );
    });
  }
});
