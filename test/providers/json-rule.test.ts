import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../src/protocol/items.ts";
import { mentionsJson } from "../../src/providers/json-rule.ts";

const say = (content: unknown, type = "message"): Item =>
  ({ type, role: "user", content }) as unknown as Item;

describe("whether a conversation asks for JSON in its text", () => {
  it("is read from the instructions and from messages of any form", () => {
    assert.equal(mentionsJson("As Json.", []), true);
    assert.equal(mentionsJson(undefined, [say("as JSON please"), say("Hello")]), true);
    assert.equal(mentionsJson(undefined, [say([{ type: "input_text", text: "json!" }])]), true);
    assert.equal(mentionsJson("Be short.", [say("Hello"), say("json", "reasoning")]), false);
  });

  it("is read from the latest part of a long conversation only", () => {
    let looks = 0;
    const items = Array.from({ length: 1000 }, () => {
      const item = say("");
      return Object.defineProperty(item, "content", {
        enumerable: true,
        get() {
          looks++;
          return "word ".repeat(13_000);
        },
      });
    });
    assert.equal(mentionsJson(undefined, items), false);
    assert.ok(looks < 20, `${looks} messages were looked at`);
    assert.equal(mentionsJson(undefined, [...items, say("as JSON")]), true);
  });
});
