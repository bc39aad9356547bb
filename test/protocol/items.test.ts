import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseItem, parseItems, toItems } from "../../src/protocol/items.ts";

describe("toItems", () => {
  it("makes a text one user message", () => {
    assert.deepEqual(toItems("Hello"), [{ type: "message", role: "user", content: "Hello" }]);
  });

  it("gives messages and references the type they left out", () => {
    const input = [{ role: "developer", content: "Be brief.", x: 1 }, { id: "msg_1" }];
    assert.deepEqual(toItems(input), [
      { type: "message", role: "developer", content: "Be brief.", x: 1 },
      { type: "item_reference", id: "msg_1" },
    ]);
  });

  it("accepts a reference whose type is null", () => {
    assert.deepEqual(toItems([{ type: null, id: "msg_1" }]), [
      { type: "item_reference", id: "msg_1" },
    ]);
  });

  it("passes typed items on as they are", () => {
    const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
    const foreign = { type: "acme:thing", payload: [1] };
    const items = toItems([call, foreign]);
    assert.equal(items[0], call);
    assert.equal(items[1], foreign);
  });

  it("names the field at fault by its path", () => {
    const part = { type: "input_text" };
    const input = [
      { role: "user", content: "a" },
      { role: "user", content: [part] },
    ];
    assert.throws(() => toItems(input), {
      code: "invalid_request",
      param: "input[1].content[0].text",
      message: "`input[1].content[0].text` is missing.",
    });
  });
});

describe("parseItem", () => {
  const wrong: readonly [value: unknown, message: string][] = [
    [5, "The item must be an object, not 5."],
    [{ role: "user", content: "" }, "`type` is missing."],
    [{ type: "function_call", name: "f", arguments: "" }, "`call_id` is missing."],
    [{ type: "message", role: "user", content: 3 }, "`content` must be a string, not 3."],
    [
      { type: "message", role: "bot", content: "" },
      '`role` must be "user", "assistant", "system" or "developer", not "bot".',
    ],
    [
      { type: "function_call_output", call_id: "c", output: [{ type: "refusal" }] },
      "`output[0].refusal` is missing.",
    ],
  ];
  for (const [value, message] of wrong) {
    it(`refuses an item with: ${message}`, () => {
      assert.throws(() => parseItem(value), { code: "invalid_request", message });
    });
  }
});

it("refuses anything but a list for parseItems", () => {
  assert.deepEqual(parseItems([{ type: "compaction_trigger" }]), [{ type: "compaction_trigger" }]);
  assert.throws(() => parseItems({}), {
    message: "The list of items must be an array, not an object.",
  });
});
