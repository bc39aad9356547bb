import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../src/protocol/items.ts";
import { pairResults } from "../../src/providers/pair-results.ts";

const say = (content: string): Item => ({ type: "message", role: "user", content });
const call = (call_id: string): Item => ({
  type: "function_call",
  call_id,
  name: "look",
  arguments: "{}",
});
const result = (call_id: string, output = call_id): Item => ({
  type: "function_call_output",
  call_id,
  output,
});

describe("results after their calls", () => {
  it("stay in place if nothing is between", () => {
    const items = [say("a"), call("1"), call("2"), result("1"), result("2"), say("b")];
    assert.equal(pairResults(items), items);
  });

  it("are moved before messages in between", () => {
    const items = [call("1"), say("wait"), result("1"), say("b")];
    assert.deepEqual(pairResults(items), [call("1"), result("1"), say("wait"), say("b")]);
  });

  it("keep the calls of one turn together", () => {
    const items = [call("1"), call("2"), say("wait"), result("2"), result("1")];
    const paired = [call("1"), call("2"), result("1"), result("2"), say("wait")];
    assert.deepEqual(pairResults(items), paired);
  });

  it("belong to their own turn if ids repeat", () => {
    const items = [call("0"), say("x"), result("0", "one"), call("0"), result("0", "two")];
    const paired = [call("0"), result("0", "one"), say("x"), call("0"), result("0", "two")];
    assert.deepEqual(pairResults(items), paired);
  });
});
