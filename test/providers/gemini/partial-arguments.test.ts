import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { ArgumentsWriter } from "../../../src/providers/gemini/partial-arguments.ts";
import type { GeminiPartialArg } from "../../../src/providers/gemini/schema.ts";

/** The text of each step, the closing one last. */
function deltasOf(...partials: readonly GeminiPartialArg[]): string[] {
  const writer = new ArgumentsWriter();
  const deltas = partials.map((partial) => writer.write(partial));
  deltas.push(writer.end());
  assert.equal(deltas.join(""), writer.text);
  return deltas;
}

const textOf = (...partials: readonly GeminiPartialArg[]): string => deltasOf(...partials).join("");

const text = (jsonPath: string, stringValue: string, willContinue = false): GeminiPartialArg => ({
  jsonPath,
  stringValue,
  ...(willContinue && { willContinue }),
});

describe("arguments in pieces", () => {
  it("are written while they arrive", () => {
    assert.deepEqual(
      deltasOf(
        text("$.a", "He", true),
        text("$.a", "y", true),
        text("$.a", ""),
        { jsonPath: "$.b", numberValue: 0.5 },
        { jsonPath: "$.c.d[0]", boolValue: false },
        { jsonPath: "$.c.d[1]", nullValue: "NULL_VALUE" },
        { jsonPath: "$.c.e", numberValue: 1 },
      ),
      ['{"a":"He', "y", '"', ',"b":0.5', ',"c":{"d":[false', ",null", '],"e":1', "}}"],
    );
  });

  const cases: readonly [name: string, partials: readonly GeminiPartialArg[], written: string][] = [
    ["none at all", [], "{}"],
    ["a text that is never closed", [text("$.a", "x", true)], '{"a":"x"}'],
    [
      "a text after one that was never closed",
      [text("$.a", "x", true), text("$.b", "y")],
      '{"a":"x","b":"y"}',
    ],
    ["quotes and line ends", [text("$.a", 'q"\n', true), text("$.a", "")], '{"a":"q\\"\\n"}'],
    ["names in brackets", [text("$['a b'][\"c'\"]", "x")], '{"a b":{"c\'":"x"}}'],
    [
      "objects in a list",
      [text("$.a[0].b", "x"), text("$.a[1].b", "y")],
      '{"a":[{"b":"x"},{"b":"y"}]}',
    ],
    ["lists in a list", [text("$.a[0][0]", "x"), text("$.a[0][1]", "y")], '{"a":[["x","y"]]}'],
    ["a name that objects have by nature", [text("$.__proto__.x", "1")], '{"__proto__":{"x":"1"}}'],
    ["a value without a kind", [{ jsonPath: "$.a" }, text("$.b", "x")], '{"b":"x"}'],
    ["a value without a path", [{ stringValue: "x" }, text("$.b", "y")], '{"b":"y"}'],
    ["a path of another form", [text("a..b", "x"), text("$", "x"), text("$[0]", "x")], "{}"],
    ["an invalid place", [text("$.a[999999999]", "x")], "{}"],
  ];
  for (const [name, partials, written] of cases) {
    it(`may be ${name}`, () => assert.equal(textOf(...partials), written));
  }

  it("are complete for a JSON reader if they come out of order", () => {
    const written = textOf(
      text("$.a.b", "1"),
      text("$.c", "2"),
      text("$.a.d", "3"),
      text("$.c", "4"),
    );
    assert.deepEqual(JSON.parse(written), { a: { b: "1", d: "3" }, c: "4" });
  });

  it("are complete for a JSON reader whatever they are, in any order", () => {
    const key = fc.stringMatching(/^[a-z_]{1,3}$/);
    const value = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("json"), { minLength: 1, maxLength: 3 }),
        fc.dictionary(key, tie("json"), { minKeys: 1, maxKeys: 3 }),
      ),
    })).json;
    const args = fc.dictionary(key, value, { minKeys: 1, maxKeys: 3 });
    fc.assert(
      fc.property(args, fc.infiniteStream(fc.nat()), fc.boolean(), (given, chance, isOrdered) => {
        const leaves = [...leavesOf("$", given as JsonObject)];
        if (!isOrdered) leaves.sort(() => ((chance.next().value as number) % 3) - 1);
        const written = textOf(...leaves.flat());
        assert.deepEqual(JSON.parse(written), JSON.parse(JSON.stringify(given)));
        if (isOrdered) assert.equal(written, JSON.stringify(given));
      }),
      { numRuns: 200 },
    );
  });
});

/** The pieces of each leaf: a text in two. */
function* leavesOf(jsonPath: string, value: Json | undefined): Generator<GeminiPartialArg[]> {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) yield* leavesOf(`${jsonPath}[${index}]`, entry);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, field] of Object.entries(value))
      yield* leavesOf(`${jsonPath}.${name}`, field);
  } else if (typeof value === "string") {
    const half = value.length >> 1;
    yield [text(jsonPath, value.slice(0, half), true), text(jsonPath, value.slice(half))];
  } else if (typeof value === "number") yield [{ jsonPath, numberValue: value }];
  else if (typeof value === "boolean") yield [{ jsonPath, boolValue: value }];
  else yield [{ jsonPath, nullValue: "NULL_VALUE" }];
}
