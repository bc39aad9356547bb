import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findCutPoints, findOpenCall } from "../../../src/agent/context/cut-points.ts";
import { estimateTokens } from "../../../src/agent/context/token-estimate.ts";
import { truncate } from "../../../src/agent/context/truncation.ts";
import type { Item } from "../../../src/protocol/items.ts";

const user = (content: string): Item => ({ type: "message", role: "user", content });
const assistant = (content: string): Item => ({ type: "message", role: "assistant", content });
const developer = (content: string): Item => ({ type: "message", role: "developer", content });
const thought: Item = { type: "reasoning", summary: [] };
const call = (call_id: string): Item => ({
  type: "function_call",
  call_id,
  name: "read",
  arguments: "{}",
});
const result = (call_id: string, output = "done"): Item => ({
  type: "function_call_output",
  call_id,
  output,
});

describe("cutting a conversation", () => {
  it("never separates a call from its result, nor thinking from what follows", () => {
    const items = [user("a"), thought, call("1"), call("2"), result("1"), result("2"), user("b")];
    assert.deepEqual(findCutPoints(items), [0, 1, 6, 7]);
  });

  it("may come right after a call that has no result yet", () => {
    assert.deepEqual(findCutPoints([user("a"), call("1"), user("b")]), [0, 1, 2, 3]);
    assert.equal(findOpenCall([user("a"), thought, call("1"), user("b")]), 1);
    assert.equal(findOpenCall([user("a"), call("1"), result("1")]), 3);
  });

  it("leaves what fits as it is", () => {
    const items = [user("a"), assistant("b")];
    assert.equal(truncate(items, { maxTokens: 1000 }), items);
  });

  it("drops the oldest, and keeps instructions and the user's last words", () => {
    const items = [
      developer("Be kind."),
      user("old ".repeat(200)),
      assistant("old"),
      user("What now?"),
      thought,
      call("1"),
      result("1", "x".repeat(600)),
      call("2"),
      result("2", "short"),
    ];
    const maxTokens = estimateTokens({ items: [0, 3, 7, 8].map((at) => items[at] as Item) });
    const kept = truncate(items, { maxTokens });
    assert.deepEqual(kept, [items[0], items[3], items[7], items[8]]);
  });

  it("begins with what a user said, never with an answer", () => {
    const items = [user("a".repeat(300)), assistant("b"), user("c"), assistant("d"), user("e")];
    assert.deepEqual(truncate(items, { maxTokens: 100 }), items.slice(2));
  });

  it("keeps the end of a conversation that cannot be made to fit", () => {
    const items = [user("a"), call("1"), result("1", "x".repeat(3000))];
    assert.deepEqual(truncate(items, { maxTokens: 10 }), items);
  });

  it("counts an image as an image and not as its letters", () => {
    const image_url = `data:image/png;base64,${"A".repeat(1_000_000)}`;
    const image: Item = {
      type: "message",
      role: "user",
      content: [{ type: "input_image", image_url }],
    };
    const tokens = estimateTokens({ items: [image] });
    assert.ok(tokens > 500 && tokens < 2000, String(tokens));
  });
});
