/** Unknown kinds, fields and words pass every schema unchanged. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { z } from "zod";
import { ContentPart, PART_TYPES } from "../../src/protocol/content.ts";
import { ITEM_TYPES, Item, type OpenItem, parseItem } from "../../src/protocol/items.ts";
import { parseAs } from "../../src/protocol/parse.ts";
import { parseCreateResponse } from "../../src/protocol/request.ts";
import { parseResponse } from "../../src/protocol/response.ts";
import { RESPONSE_EVENT_TYPES, ResponseEvent } from "../../src/protocol/response-events.ts";
import { TOOL_TYPES, Tool } from "../../src/protocol/tools.ts";

const UNIONS: readonly { name: string; schema: z.ZodType; types: readonly string[] }[] = [
  { name: "item", schema: Item, types: ITEM_TYPES },
  { name: "content part", schema: ContentPart, types: PART_TYPES },
  { name: "tool", schema: Tool, types: TOOL_TYPES },
  { name: "event", schema: ResponseEvent, types: RESPONSE_EVENT_TYPES },
];

/** Fields under names that no schema uses, with any JSON in them. */
const unknownFields = fc.dictionary(
  fc.string().map((name) => `x_${name}`),
  fc.jsonValue(),
  { maxKeys: 4 },
);

describe("an unknown kind", () => {
  for (const { name, schema, types } of UNIONS) {
    it(`of ${name} survives`, () => {
      const unknownType = fc.string().filter((type) => !types.includes(type));
      const property = fc.property(unknownType, unknownFields, (type, fields) => {
        const value: OpenItem = { ...fields, type };
        survives(schema, value);
      });
      fc.assert(property, { numRuns: 60 });
    });

    it(`of ${name} needs its type`, () => {
      for (const value of [{}, { type: 1 }, null, "text", []]) {
        assert.throws(() => parseAs(schema, value, name), { code: "invalid_request" });
      }
    });
  }
});

describe("unknown fields", () => {
  it("survive in an item, its parts and their annotations", () => {
    const property = fc.property(
      unknownFields,
      unknownFields,
      fc.string(),
      (outer, inner, text) => {
        const annotation = { ...inner, type: "url_citation", url: text };
        const part = { ...outer, type: "output_text", text, annotations: [annotation] };
        survives(Item, { ...inner, type: "message", role: "assistant", content: [part], ...outer });
      },
    );
    fc.assert(property, { numRuns: 60 });
  });

  it("survive in a request and in a response, in their order", () => {
    const property = fc.property(unknownFields, fc.string(), (fields, model) => {
      const request = {
        ...fields,
        model,
        text: { ...fields, format: { type: "text", ...fields } },
      };
      assert.equal(JSON.stringify(parseCreateResponse(request)), JSON.stringify(request));
      const response = { ...fields, id: "r", object: "response", created_at: 1, model, output: [] };
      assert.equal(JSON.stringify(parseResponse(response)), JSON.stringify(response));
    });
    fc.assert(property, { numRuns: 60 });
  });
});

it("survive as words of lists that may grow", () => {
  const item = parseItem({
    type: "shell_call",
    call_id: "c",
    action: { commands: [] },
    status: "z",
  });
  assert.equal(item.type === "shell_call" && item.status, "z");
});

/** The value comes back itself, and the schema's own copy has lost nothing either. */
function survives(schema: z.ZodType, value: object): void {
  assert.equal(parseAs(schema, value, "value"), value);
  assert.deepEqual(schema.parse(value), value);
}
