import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { writeConversation } from "../../../src/agent/context/conversation-text.ts";
import { expandCompactions } from "../../../src/agent/context/expand-compactions.ts";
import { keepWords } from "../../../src/agent/context/keep-words.ts";
import { toPlainText } from "../../../src/agent/context/message-text.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { createCompactionSeal } from "../../../src/responses/sealing/seals.ts";

const seal = createCompactionSeal(new Uint8Array(32), "tenant");
const user = (content: string): Item => ({ type: "message", role: "user", content });
const developer = (content: string): Item => ({ type: "message", role: "developer", content });
const assistant = (content: string): Item => ({ type: "message", role: "assistant", content });
const thought: Item = { type: "reasoning", id: "rs_1", summary: [] };
const call: Item = { type: "function_call", call_id: "1", name: "read", arguments: "{}" };
const result: Item = { type: "function_call_output", call_id: "1", output: "text" };

function compact(items: readonly Item[], maxTokens = 10_000): Item {
  const encrypted_content = seal.seal({ summary: "SUMMARY", ...keepWords(items, maxTokens) });
  return { type: "compaction", id: "cmp_1", encrypted_content };
}

function wordsOf(items: readonly Item[], isNative = false): string[] {
  const expanded = expandCompactions(items, { open: seal.open, isNative });
  return expanded.items.map((item) =>
    item.type === "message" ? (toPlainText(item.content).split("\n").at(-1) ?? "") : item.type,
  );
}

describe("a compacted conversation", () => {
  const old = [developer("rules"), user("one"), assistant("two"), user("three")];

  it("has the people's words, the summary, and how it ended", () => {
    const items = [...old, assistant("four")];
    assert.deepEqual(wordsOf([compact(items), user("five")]), [
      "rules",
      "one",
      "three",
      "SUMMARY",
      "four",
      "five",
    ]);
  });

  it("replaces everything before it that it covers, in any form that is sent again", () => {
    const parts: Item = {
      type: "message",
      id: "msg_9",
      role: "user",
      content: [{ type: "input_text", text: "one" }],
    };
    const sent = [parts, assistant("two"), thought, call, result, compact(old), user("five")];
    assert.deepEqual(wordsOf(sent), ["rules", "one", "three", "SUMMARY", "five"]);
  });

  it("leaves new messages before it where they are", () => {
    const sent = [developer("new rules"), user("one"), compact(old), user("five")];
    const words = ["new rules", "rules", "one", "three", "SUMMARY", "five"];
    assert.deepEqual(wordsOf(sent), words);
  });

  it("keeps an open call, with the thinking before it, however little room there is", () => {
    const sent = [compact([...old, assistant("x".repeat(900)), thought, call], 100), result];
    const words = ["rules", "one", "three", "SUMMARY", "reasoning", "function_call"];
    assert.deepEqual(wordsOf(sent), [...words, "function_call_output"]);
  });

  it("keeps the newest of the user's words if not all fit", () => {
    const items = [developer("rules"), user("a".repeat(900)), user("short"), assistant("ok")];
    assert.deepEqual(wordsOf([compact(items, 100)]), ["rules", "short", "SUMMARY", "ok"]);
  });

  it("replaces nothing if it cannot be opened", () => {
    const foreign: Item = { type: "compaction", encrypted_content: "of-another-server" };
    assert.deepEqual(wordsOf([user("one"), foreign, user("two")]), ["one", "two"]);
    const native = ["one", "compaction", "two"];
    assert.deepEqual(wordsOf([user("one"), foreign, user("two")], true), native);
  });
});

describe("a conversation as text", () => {
  it("names calls and results, and shortens the longest until it fits", () => {
    const long: Item = { ...result, output: "y".repeat(50_000) } as Item;
    const text = writeConversation([user("look"), call, long], 8000);
    assert.match(
      text,
      /^\[user\]\nlook\n\n\[assistant calls read, 1\]\n\{\}\n\n\[result of 1\]\ny+/,
    );
    assert.match(text, /\[… 45\d{3} characters …\]/);
    assert.ok(text.length <= 8000);
  });

  it("leaves out the beginning if the shortest form is still too long", () => {
    const items = Array.from({ length: 100 }, (_, at) => user(`message ${at} ${"z".repeat(90)}`));
    const text = writeConversation(items, 1000);
    assert.match(text, /^\[The beginning is left out\.\]/);
    assert.match(text, /message 99/);
    assert.ok(text.length < 1100);
  });
});
