import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isPlainRequest } from "../../src/protocol/plain-request.ts";
import { CreateResponse } from "../../src/protocol/request.ts";

const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true }),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.record({ role: fc.constantFrom("user", "tool", 1), content: fc.string() })),
  fc.array(
    fc.record({ type: fc.constant("message"), role: fc.constant("user"), content: fc.string() }),
  ),
  fc.array(fc.string()),
  fc.dictionary(fc.string(), fc.string()),
);
const names = [
  "model",
  "input",
  "stream",
  "store",
  "temperature",
  "top_p",
  "max_output_tokens",
  "user",
  "tools",
  "constructor",
];
const request = fc.dictionary(fc.constantFrom(...names), value);

describe("requests that are accepted without the schema", () => {
  it("are all accepted by the schema", () => {
    fc.assert(
      fc.property(request, (body) => {
        fc.pre(isPlainRequest(body));
        assert.ok(CreateResponse.safeParse(body).success, JSON.stringify(body));
      }),
      { numRuns: 300 },
    );
  });

  it("are those that most clients send", () => {
    const messages = [{ role: "user", content: "Hi" }];
    assert.ok(isPlainRequest({ model: "m", input: "Hi", stream: true, store: false }));
    assert.ok(
      isPlainRequest({ model: "m", input: messages, max_output_tokens: 10, temperature: 1 }),
    );
  });

  for (const [what, body] of Object.entries({
    "an unknown field": { input: "Hi", constructor: 1 },
    "a number out of range": { input: "Hi", temperature: 3 },
    "a half token": { input: "Hi", max_output_tokens: 1.5 },
    "a part": { input: [{ role: "user", content: [] }] },
    "no object": "Hi",
    "a list": [],
  })) {
    it(`do not include ${what}, which is left to the schema`, () =>
      assert.equal(isPlainRequest(body), false));
  }
});
