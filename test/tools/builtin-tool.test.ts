import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { defineBuiltin, integer, oneOf, text } from "../../src/tools/builtin-tool.ts";

const tool = defineBuiltin({
  name: "look",
  description: "Looks.",
  parameters: {
    path: text("Where.", { minLength: 1 }),
    name: text("What.", { default: "" }),
    limit: integer("How many.", { minimum: 0, default: 20 }),
    kind: oneOf("Which.", ["", "f", "d"]),
  },
  readOnly: true,
  effect: "read",
  run: async (input) => input,
});

describe("defineBuiltin", () => {
  it("gives the model the schema of its arguments", () => {
    assert.deepEqual(tool.spec.parameters, {
      type: "object",
      required: ["path"],
      properties: {
        path: { type: "string", minLength: 1, description: "Where." },
        name: { type: "string", default: "", description: "What." },
        limit: { type: "integer", minimum: 0, default: 20, description: "How many." },
        kind: { type: "string", enum: ["", "f", "d"], default: "", description: "Which." },
      },
      additionalProperties: false,
    });
  });

  it("fills in missing arguments, and takes null for a missing one", () => {
    const whole = { path: "a", name: "", limit: 20, kind: "" };
    assert.deepEqual(tool.parse({ path: "a" }), whole);
    assert.deepEqual(tool.parse({ path: "a", name: null, limit: null, kind: null }), whole);
  });

  it("keeps what is given", () => {
    const whole = { path: "a", name: "b", limit: 0, kind: "d" };
    assert.deepEqual(tool.parse(whole), whole);
  });

  const refusals: readonly [input: Json, problems: string][] = [
    [{}, "path: is missing"],
    [{ path: null }, "path: is missing"],
    [{ path: "" }, "path: must not be empty"],
    [{ path: 1 }, "path: must be a text"],
    [{ path: "a", limit: -1 }, "limit: must be 0 or more"],
    [{ path: "a", limit: 1.5 }, "limit: must be a whole number"],
    [{ path: "a", limit: "3" }, "limit: must be a whole number"],
    [{ path: "a", kind: "x" }, 'kind: must be one of "", "f", "d"'],
    [{ path: "a", colour: 1 }, "colour: there is no such argument"],
    [JSON.parse('{"path":"a","__proto__":1}'), "__proto__: there is no such argument"],
    [
      { limit: -1, kind: "x", pat: 1 },
      'pat: there is no such argument; path: is missing; limit: must be 0 or more; kind: must be one of "", "f", "d"',
    ],
    [[], "the arguments must be an object"],
    [null, "the arguments must be an object"],
    ["a", "the arguments must be an object"],
  ];
  for (const [input, problems] of refusals) {
    it(`names every problem: ${JSON.stringify(input)}`, () => {
      assert.throws(() => tool.parse(input), {
        code: "invalid_request",
        message: `The arguments of \`look\` do not fit: ${problems}.`,
      });
    });
  }
});
