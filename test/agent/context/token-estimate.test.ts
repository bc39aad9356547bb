import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { estimateItem, estimateTokens } from "../../../src/agent/context/token-estimate.ts";
import type { Item } from "../../../src/protocol/items.ts";

const ask = (content: unknown): Item => ({ type: "message", role: "user", content }) as Item;

describe("the tokens of a conversation", () => {
  it("are told by the length of its text", () => {
    const tokens = estimateTokens({
      items: [ask("word ".repeat(3000))],
      instructions: "x".repeat(300),
    });
    assert.ok(tokens > 5000 && tokens < 5200, `${tokens}`);
  });

  it("are those of an image or a file, and not of its base64", () => {
    const data = "A".repeat(1_000_000);
    const image = estimateItem(ask([{ type: "input_image", image_url: data, detail: "auto" }]));
    assert.ok(image > 1000 && image < 1100, `${image}`);
    const file = estimateItem(ask([{ type: "input_file", file_data: data }]));
    assert.ok(file > 25_000 && file < 25_100, `${file}`);
  });

  it("are told without writing it down", () => {
    const item = Object.assign(ask("word ".repeat(3000)), {
      toJSON(): never {
        throw new Error("written");
      },
    });
    assert.ok(estimateTokens({ items: [item] }) > 5000);
  });
});
