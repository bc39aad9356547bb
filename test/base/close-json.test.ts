import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { closeJson } from "../../src/base/close-json.ts";
import { isJsonObject, type Json } from "../../src/base/json.ts";
import { MAX_DEPTH } from "../../src/base/json-shape.ts";

describe("closeJson", () => {
  for (const [text, closed] of [
    ["", undefined],
    [" \n", undefined],
    ["12", undefined],
    ["12 ", "12"],
    ["{", "{}"],
    ['{"na', "{}"],
    ['{"name"', "{}"],
    ['{"name" :', "{}"],
    ['{"a":1', "{}"],
    ['{"a":tru', "{}"],
    ['{"a":true, ', '{"a":true}'],
    ['{"a":1,"b":"te', '{"a":1,"b":"te"}'],
    ['{"a":[1,2', '{"a":[1]}'],
    ['{"a":[{"b":{}', '{"a":[{"b":{}}]}'],
    ['{"a":[], "b"', '{"a":[]}'],
    ['["say \\"', '["say \\""]'],
    ['["say \\', '["say "]'],
    ['["say \\\\', '["say \\\\"]'],
    ['["\\u00e', '[""]'],
    ['["\\u00e9', '["\\u00e9"]'],
    ['["a\\ud83d', '["a"]'],
    ['["a\\ud83d\\ude', '["a"]'],
    ['["a\\ud83d\\ude00', '["a\\ud83d\\ude00"]'],
    ['["a\\\\ud83d', '["a\\\\ud83d"]'],
    ["[".repeat(MAX_DEPTH + 1), undefined],
  ] as const) {
    it(`closes ${JSON.stringify(text).slice(0, 40)}`, () => assert.equal(closeJson(text), closed));
  }

  it("gives a part of the value wherever the document ends, and all of it at its real end", () => {
    const value: Json = {
      id: "x",
      texts: ["plain", 'a "quote" \\ and \n', "é 😀 \u0001", ""],
      nested: { list: [[], {}, [{ "a,b": null }]], empty: "" },
      numbers: [0, -1.5e10, 12345],
      flags: { yes: true, no: false, none: null },
    };
    for (const document of [JSON.stringify(value), JSON.stringify(value, null, 2), ascii(value)]) {
      assert.equal(closeJson(document), document);
      for (let at = 1; at < document.length; at++) {
        const closed = closeJson(document.slice(0, at)) ?? assert.fail(`nothing at ${at}`);
        assert.ok(isPart(JSON.parse(closed), value), `${at}: ${closed}`);
      }
    }
  });
});

/** JSON with every character that is not ASCII as an escape, as some servers write it. */
function ascii(value: Json): string {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** True if a value is a part of the whole: texts and lists may be shorter, members may be missing. */
function isPart(part: Json, whole: Json | undefined): boolean {
  if (typeof part === "string") return typeof whole === "string" && whole.startsWith(part);
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((one, at) => isPart(one as Json, whole[at]));
  }
  if (isJsonObject(part) && isJsonObject(whole)) {
    return Object.entries(part).every(([name, one]) => isPart(one as Json, whole[name]));
  }
  return part === whole;
}
