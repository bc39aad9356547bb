import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createOutputCheck, toRepairRequest } from "../../src/agent/structured-output.ts";
import type { OutputFormat } from "../../src/providers/provider.ts";

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer", minimum: 0 } },
  required: ["city"],
  additionalProperties: false,
};
const CITY: OutputFormat = { type: "json_schema", name: "city", schema: SCHEMA, strict: true };
const OBJECT: OutputFormat = { type: "json_object" };
const OSLO = { city: "Oslo", people: 3 };

describe("an answer of a required form", () => {
  const accepted: readonly (readonly [string, OutputFormat, string, unknown])[] = [
    ["a document that fits its schema", CITY, JSON.stringify(OSLO), OSLO],
    ["a document with space around it", CITY, `\n ${JSON.stringify(OSLO)} \n`, OSLO],
    ["a document in a code fence", CITY, `\`\`\`\n${JSON.stringify(OSLO)}\n\`\`\``, OSLO],
    ["a document in a fence of JSON", CITY, `\`\`\`json\n${JSON.stringify(OSLO)}\`\`\`\n`, OSLO],
    ["an object without a schema", OBJECT, '{"a":[1]}', { a: [1] }],
    ["any text if no form is required", { type: "text" }, "{oops", undefined],
  ];
  for (const [what, format, text, value] of accepted) {
    it(`is ${what}`, async () => {
      const check = await createOutputCheck(format);
      assert.deepEqual(await check(text), { ok: true, value });
    });
  }

  const rejected: readonly (readonly [string, OutputFormat, string, RegExp])[] = [
    ["text that is not JSON", CITY, "Oslo has three people.", /not JSON: "Oslo has three/],
    ["an empty answer", CITY, "", /not JSON: ""/],
    ["a fence inside of text", CITY, 'Here: ```json\n{"city":"Oslo"}\n```', /not JSON/],
    ["a document without a required field", CITY, '{"people":3}', /city/],
    ["a field of the wrong type", CITY, '{"city":"Oslo","people":"many"}', /people/],
    [
      "a field that the schema does not allow",
      CITY,
      '{"city":"Oslo","mayor":"x"}',
      /additional properties/,
    ],
    ["a list in place of an object", OBJECT, "[1]", /not an object/],
    ["null in place of an object", OBJECT, "null", /not an object/],
    ["text in place of an object", OBJECT, "sure", /not JSON: "sure"/],
  ];
  for (const [what, format, text, problem] of rejected) {
    it(`is not ${what}`, async () => {
      const checked = await (await createOutputCheck(format))(text);
      assert.ok(!checked.ok);
      assert.match(checked.problem, problem);
    });
  }

  it("is read from a fence exactly as without one", async () => {
    const check = await createOutputCheck(OBJECT);
    const property = fc.asyncProperty(fc.object(), async (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(await check(`\`\`\`json\n${text}\n\`\`\``), await check(text));
    });
    await fc.assert(property, { numRuns: 100 });
  });

  it("is quoted in short when it is not JSON", async () => {
    const checked = await (await createOutputCheck(OBJECT))("x".repeat(10_000));
    assert.ok(!checked.ok && checked.problem.length < 120);
  });

  it("tells the model what was wrong and asks for the document alone", () => {
    const told = toRepairRequest("`city` is missing.");
    assert.match(told, /^Your answer does not fit: `city` is missing\. .*alone\.$/);
  });

  it("fails before anything is sent if the schema is invalid", async () => {
    const format: OutputFormat = { ...CITY, schema: { type: "thing" } };
    await assert.rejects(createOutputCheck(format), { code: "invalid_request" });
  });
});
