import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import { createDecoder } from "../../../src/providers/gemini/decode.ts";
import type { GeminiRequest } from "../../../src/providers/gemini/schema.ts";
import { geminiWire } from "../../../src/providers/gemini/wire.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { createImageKind } from "../../../src/responses/kinds/image-generation.ts";
import { user } from "../conversation.ts";
import { request } from "../provider-contract.ts";
import { decodeAll, itemsOf } from "../streams.ts";

const PART = { inlineData: { mimeType: "image/jpeg", data: "AAAA" }, thoughtSignature: "s" };
const chunk = (...parts: readonly object[]): object => ({
  candidates: [{ content: { parts }, finishReason: "STOP" }],
  responseId: "r1",
});
const decode = (...parts: readonly object[]) =>
  decodeAll(createDecoder({ items: [] }), chunk(...parts));
const encode = (more: Partial<ModelRequest>): GeminiRequest =>
  geminiWire.encode(request(more), {}) as GeminiRequest;

const DRAWN = {
  type: "image_generation_call",
  id: "r1_0",
  status: "completed",
  result: "AAAA",
  output_format: "jpeg",
  google: { mimeType: "image/jpeg", thoughtSignature: "s" },
};

describe("a picture that gemini drew", () => {
  it("is the item of the Responses API, complete at its end", () => {
    const events = decode(PART);
    assert.deepEqual(itemsOf(events) as unknown[], [DRAWN]);
    assert.deepEqual(events[1], {
      type: "item_start",
      index: 0,
      item: { type: "image_generation_call", id: "r1_0", status: "in_progress", result: null },
    });
  });

  it("is sent back as the original part, also through a server", () => {
    const items = itemsOf(decode(PART));
    const contents = (history: readonly Item[]) =>
      encode({ model: "gemini-3-pro-image", items: [user("Draw."), ...history, user("Again.")] })
        .contents[1]?.parts;
    assert.deepEqual(contents(items), [PART]);
    const kind = createImageKind({ open: undefined });
    assert.deepEqual(contents(items.flatMap((item) => kind.toFunctions(item, (key) => key))), [
      PART,
    ]);
  });

  it("is sent to the model as a picture if another vendor drew it", () => {
    const drawn = { type: "image_generation_call", id: "ig_1", result: "AAAA" } as Item;
    const { contents } = encode({ items: [user("Draw."), drawn, user("Again.")] });
    assert.deepEqual(contents[1]?.parts, [{ inlineData: { mimeType: "image/png", data: "AAAA" } }]);
  });

  it("is ignored if it is a draft, or not a picture", () => {
    const draft = { inlineData: PART.inlineData, thought: true };
    const sound = { inlineData: { mimeType: "audio/wav", data: "AAAA" } };
    assert.deepEqual(
      itemsOf(decode(draft, sound)).map(({ type }: { type: string }) => type),
      ["google:inlineData", "google:inlineData"],
    );
  });
});

describe("a gemini model that draws", () => {
  const cases = [
    ["gemini-2.5-flash-image", true],
    ["gemini-3-pro-image-preview", true],
    ["gemini-2.0-flash-preview-image-generation", true],
    ["gemini-2.5-flash", false],
  ] as const;
  for (const [model, draws] of cases) {
    it(`is ${draws ? "" : "not "}allowed to by the request: ${model}`, () => {
      const { generationConfig } = encode({ model });
      const expected = draws ? ["TEXT", "IMAGE"] : undefined;
      assert.deepEqual(generationConfig?.responseModalities, expected);
    });
  }

  it("is not allowed to if JSON is requested", () => {
    const { generationConfig } = encode({
      model: "gemini-2.5-flash-image",
      format: { type: "json_object" },
    });
    assert.equal(generationConfig?.responseModalities, undefined);
  });
});
