import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ABOUT, compileSchema } from "../../src/agent/compile-schema.ts";

describe("an output schema", () => {
  for (const draft of [
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
  ]) {
    it(`is compiled from the beginning where a busy machine had it stopped: ${draft}`, async () => {
      const limit = { ...ABOUT, limitMs: 1, readUsedMs: () => 0 };
      const schema = { $schema: draft, type: "object", properties: { city: { type: "string" } } };
      const validate = await compileSchema(schema, limit);
      assert.match(validate({ city: 1 }) ?? "", /city must be string/);
      assert.equal(validate({ city: "Oslo" }), undefined);
    });
  }
});
