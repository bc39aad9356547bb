import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { toPromptResult, toResourceResult, toToolResult } from "../../../src/tools/mcp/result.ts";
import { ToolOutput } from "../../../src/tools/tool.ts";

const text = (words: string): JsonObject => ({ type: "text", text: words });
const image = (mimeType: string, data = "aGVsbG8="): JsonObject => ({
  type: "image",
  mimeType,
  data,
});

describe("a server's answer", () => {
  it("is its texts, joined", () => {
    assert.equal(toToolResult({ content: [text("one"), text("two")] }), "one\ntwo");
    assert.equal(toToolResult({ content: [] }), "");
    assert.equal(toToolResult({}), "");
  });

  it("is its structured content without text", () => {
    assert.deepEqual(toToolResult({ content: [], structuredContent: { a: 1 } }), { a: 1 });
    assert.equal(toToolResult({ content: [text("a")], structuredContent: { a: 1 } }), "a");
  });

  it("has its images as parts", () => {
    const output = toToolResult({ content: [text("see"), image("image/png")] });
    assert.ok(output instanceof ToolOutput);
    assert.equal(output.value, "see");
    assert.deepEqual(output.parts, [
      { type: "input_image", image_url: "data:image/png;base64,aGVsbG8=" },
    ]);
  });

  it("has at most ten images", () => {
    const output = toToolResult({ content: new Array(12).fill(image("image/png")) });
    assert.ok(output instanceof ToolOutput);
    assert.equal(output.parts.length, 10);
    assert.match(String(output.value), /one more image was left out/);
  });

  const described: readonly (readonly [JsonObject, string])[] = [
    [image("image/svg+xml"), "[image, image/svg+xml, 6 bytes]"],
    [image("image/png", '"><script>'), "[image, image/png, 7 bytes]"],
    [{ type: "audio", mimeType: "audio/wav", data: "aGVsbG8=" }, "[audio, audio/wav, 6 bytes]"],
    [
      { type: "resource_link", uri: "file:///a", name: "a", description: "A file" },
      "[resource file:///a (a: A file)]",
    ],
    [{ type: "resource", resource: { uri: "x:y", text: "inside" } }, "[resource x:y]\ninside"],
    [
      { type: "resource", resource: { uri: "x:y", blob: "aGVsbG8=" } },
      "[resource x:y, of an unknown type, 6 bytes]",
    ],
    [{ type: "hologram" }, "[content of the kind hologram]"],
  ];
  for (const [content, words] of described) {
    it(`describes ${JSON.stringify(content).slice(0, 60)}`, () => {
      assert.equal(toToolResult({ content: [content] }), words);
    });
  }

  it("is a failure with the server's words if the server says so", () => {
    const result = { isError: true, content: [text("no such row")] };
    assert.throws(() => toToolResult(result), { code: "tool_failed", message: "no such row" });
    assert.throws(() => toToolResult({ isError: true, content: [] }), /did not say why/);
  });
});

describe("resources and prompts", () => {
  it("are text with images as parts", () => {
    const contents = [
      { uri: "a:b", text: "words" },
      { uri: "a:c", mimeType: "image/png", blob: "aGVsbG8=" },
    ];
    const output = toResourceResult({ contents });
    assert.ok(output instanceof ToolOutput);
    assert.deepEqual([output.value, output.parts.length], ["[resource a:b]\nwords", 1]);
  });

  it("name the role of each message", () => {
    const messages = [
      { role: "user", content: text("Hello") },
      { role: "assistant", content: text("Hi") },
    ];
    assert.equal(toPromptResult({ messages }), "[user]\nHello\n\n[assistant]\nHi");
  });
});
