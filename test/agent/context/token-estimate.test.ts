import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { estimateItem, estimateTokens } from "../../../src/agent/context/token-estimate.ts";
import type { Item } from "../../../src/protocol/items.ts";

const ask = (content: unknown): Item => ({ type: "message", role: "user", content }) as Item;

const toBase64 = (text: string): string => Buffer.from(text).toString("base64");

describe("the tokens of a conversation", () => {
  it("are estimated from the length of its text", () => {
    const tokens = estimateTokens({
      items: [ask("word ".repeat(3000))],
      instructions: "x".repeat(300),
    });
    assert.ok(tokens > 5000 && tokens < 5200, `${tokens}`);
  });

  it("are those of an image or a file, and not of its base64", () => {
    const data = "A".repeat(1_000_000);
    const image = estimateItem(ask([{ type: "input_image", image_url: data, detail: "auto" }]));
    assert.ok(image > 1600 && image < 1700, `${image}`);
    const file = estimateItem(ask([{ type: "input_file", file_data: data }]));
    assert.ok(file > 25_000 && file < 25_100, `${file}`);
  });

  it("are those of an image at an address, too", () => {
    const image_url = "https://example.org/a.png";
    const image = estimateItem(ask([{ type: "input_image", image_url, detail: "auto" }]));
    assert.ok(image > 1600 && image < 1700, `${image}`);
  });

  const LINES = "A line of plain text.\n".repeat(3000);
  const TEXT_FILES: Readonly<Record<string, string>> = {
    "a text file": `data:text/plain;base64,${toBase64(LINES)}`,
    "source code of no named type": `data:application/octet-stream;base64,${toBase64(LINES)}`,
    "a text file without the head of an address": toBase64(LINES),
    "a text that is not in base64": LINES,
  };
  for (const [name, file_data] of Object.entries(TEXT_FILES)) {
    it(`are those of its text: ${name}`, () => {
      const tokens = estimateItem(ask([{ type: "input_file", file_data }]));
      assert.ok(tokens >= 22_000 && tokens < 22_200, `${tokens}`);
    });
  }

  it("are more in a script that has about one token for each character", () => {
    for (const text of ["東京の天気は晴れです。", "서울의 날씨는 맑습니다."]) {
      for (const times of [1, 1000]) {
        const said = text.repeat(times);
        const tokens = estimateTokens({ items: [], instructions: said });
        assert.ok(tokens > 0.8 * said.length && tokens <= said.length, `${tokens}`);
        const asked = estimateItem(ask(said));
        assert.ok(asked >= tokens && asked < tokens + 30, `${asked}`);
      }
    }
    const base64 = toBase64("東京の天気は晴れです。".repeat(1000));
    const file_data = `data:text/plain;base64,${base64}`;
    const file = estimateItem(ask([{ type: "input_file", file_data }]));
    assert.ok(file >= 11_000 && file < 11_100, `${file}`);
  });

  it("are found in a long text that is only in part in such a script", () => {
    const mixed = `${"word ".repeat(20_000)}${"東京の天気".repeat(20_000)}`;
    const tokens = estimateTokens({ items: [], instructions: mixed });
    assert.ok(tokens > 130_000 && tokens < 137_000, `${tokens}`);
  });

  it("are estimated without converting it to JSON", () => {
    const item = Object.assign(ask("word ".repeat(3000)), {
      toJSON(): never {
        throw new Error("written");
      },
    });
    assert.ok(estimateTokens({ items: [item] }) > 5000);
  });
});
