import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AgentTask, SAFEGUARDS } from "../../src/agent/task.ts";
import { readMessages } from "../../src/delegation/conversation-messages.ts";
import type { Item } from "../../src/protocol/items.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";

const says = (role: "user" | "assistant", content: string): Item => ({
  type: "message",
  role,
  content,
});

const TASK: AgentTask = {
  ...SAFEGUARDS,
  model: "test/model",
  model_reason: "a test",
  provider: null,
  url: null,
  api_key_name: null,
  instructions: null,
  items: [says("user", "Begin")],
  tools: [],
  tool_choice: "auto",
  max_turns: 10,
  temperature: null,
  max_output_tokens: null,
  think: false,
  format: { type: "text" },
  root: ".",
  on_throw: "tell_model",
  summary_prompt: "Report.",
};

const turn = (number: number, text: string): RunEvent[] => [
  { type: "turn_start", turn: number, at_ms: 0 },
  { type: "item_end", index: 0, item: says("assistant", text) },
  { type: "turn_end", turn: number, reason: "stop", usage: NO_USAGE, cost_usd: 0, at_ms: 0 },
];

describe("the conversation of a child", () => {
  it("has what people said before the turn that read it, and that turn is not a report", () => {
    const input: RunEvent = { type: "run_input", items: [says("user", "And b?")], at_ms: 0 };
    const log = [...turn(1, "A."), input, ...turn(2, "B."), ...turn(3, "A and B.")];
    const texts = readMessages(TASK, log, "").map((item) =>
      item.type === "message" ? item.content : item.type,
    );
    assert.deepEqual(texts, ["Begin", "A.", "And b?", "B.", "Report.", "A and B."]);
  });
});
