import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import { ask, assistant, listen, user } from "./replies.ts";

describe("a task that says how to report", () => {
  const rows: readonly (readonly [task: string, answer: RegExp])[] = [
    ["compute 6*7", /42/],
    ["write a poem", /^$/],
  ];
  for (const [task, answer] of rows) {
    it(`is understood as the task alone: ${JSON.stringify(task)}`, async () => {
      const wish = "Summarize your findings concisely";
      const alone = await listen(ask([user(task)], { tools: [] }));
      const { text } = await listen(ask([user(`${task}\n\n${wish}`)], { tools: [] }));
      assert.match(text, answer);
      assert.equal(text, alone.text);
    });
  }
});

describe("the report of a subagent", () => {
  const call: Item = { type: "function_call", call_id: "c", name: "read", arguments: "{}" };
  const output: Item = { type: "function_call_output", call_id: "c", output: "   1 | x" };
  const rule: Item = { type: "message", role: "developer", content: "Be brief." };
  const done = [user("Count it"), call, output, assistant("There are 7 lines.")];
  const rows: readonly (readonly [string, readonly Item[], RegExp])[] = [
    ["Summarize your findings concisely", done, /^There are 7 lines\.$/],
    ["Nur die Zahl, bitte", done, /^There are 7 lines\.$/],
    ["State the number only.", [user("compute 6*7"), assistant("6*7 = 42")], /^6\*7 = 42$/],
    [
      "Summarize your findings concisely",
      done.slice(0, 3),
      /^I have no answer yet after 1 tool call\.$/,
    ],
    ["what did you find?", [], /^I have no answer yet\.$/],
    ["what did you find?", [rule], /^I have no answer yet\.$/],
    ["write a poem", [user("hello"), assistant("Hello.")], /^I am `embedded\/offline`/],
    [
      "report your results",
      [user("x"), assistant("y".repeat(3000))],
      /^y{2000}\n\(1000 characters are left out\.\)$/,
    ],
  ];
  for (const [prompt, before, answer] of rows) {
    it(`is the last answer: "${prompt}" after ${before.length} items`, async () => {
      const { text, refusal } = await listen(ask([...before, user(prompt)], { tools: [] }));
      assert.match(text + refusal, answer);
    });
  }
});
