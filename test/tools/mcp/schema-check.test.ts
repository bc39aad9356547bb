import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCompile } from "../../../src/tools/mcp/schema-check.ts";

const compile = await createCompile();

describe("an external schema", () => {
  it("an external schema reports invalid arguments", () => {
    const check = compile({
      type: "object",
      properties: { path: { type: "string" }, lines: { type: "integer" } },
      required: ["path"],
    });
    assert.equal(check({ path: "a", lines: 3 }), undefined);
    assert.match(check({ lines: "x" }) ?? "", /required property 'path'.*lines must be integer/);
  });

  it("is read in the draft that it names", () => {
    const check = compile({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }] } },
    });
    assert.equal(check({ pair: ["a", 1] }), undefined);
    assert.match(check({ pair: [1, 1] }) ?? "", /must be string/);
  });

  it("may have the same id as another", () => {
    const schema = { $id: "https://example.com/tool", type: "object" };
    assert.equal(compile({ ...schema })({}), undefined);
    assert.equal(compile({ ...schema, required: ["a"] })({ a: 1 }), undefined);
  });

  it("runs no pattern of its own, which could take hours", () => {
    const evil = "^(a+)+$";
    const check = compile({
      type: "object",
      properties: {
        text: { type: "string", pattern: evil },
        pattern: { type: "string" },
        map: { type: "object", patternProperties: { [evil]: {} }, additionalProperties: false },
      },
    });
    const text = `${"a".repeat(40)}!`;
    assert.equal(check({ text, map: { [text]: 1 } }), undefined);
    assert.match(check({ pattern: 5 }) ?? "", /pattern must be string/);
  });

  it("is compiled from the beginning where a busy machine had it stopped", async () => {
    const limit = { limitMs: 1, what: "The schema", readUsedMs: () => 0 };
    const compileAgain = await createCompile(limit);
    const check = compileAgain({ type: "object", properties: { path: { type: "string" } } });
    assert.match(check({ path: 1 }) ?? "", /path must be string/);
  });

  for (const schema of [
    { type: "object", properties: 5 },
    { type: "strange" },
    { type: "object", properties: { a: { $ref: "https://example.com/schema" } } },
  ]) {
    it(`is refused if it is invalid: ${JSON.stringify(schema)}`, () => {
      assert.throws(() => compile(schema));
    });
  }
});
