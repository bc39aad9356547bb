/**
 * Large JSON, parsed and written in slices: the same result as `JSON.parse` and `JSON.stringify`, in more
 * turns.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { measureBytes } from "../../src/base/json-bytes.ts";
import { writeInSlices } from "../../src/base/json-pieces.ts";
import { measureJson } from "../../src/base/json-shape.ts";
import { parseLargeJson } from "../../src/base/large-json.ts";
import { createSlices } from "../../src/base/slices.ts";
import { countTurns } from "./count-turns.ts";

const parse = (text: string): Promise<unknown> =>
  parseLargeJson(Buffer.from(text), createSlices("test"));

const write = async (value: unknown): Promise<string> => {
  let text = "";
  for await (const piece of writeInSlices(value, "test")) text += piece;
  return text;
};

/** Longer than one batch of parsing or writing. */
const LONG = 200_000;

const VALUES: Readonly<Record<string, unknown>> = {
  "a number": -1.5e-7,
  null: null,
  "an empty list": [],
  "an empty object": {},
  "a long text": "a ".repeat(LONG),
  "a text of escapes": '\\"\n\u0001\u2028'.repeat(LONG / 4),
  "a text of characters of all lengths": "aé€😀".repeat(LONG / 4),
  "a text of backslashes": "\\".repeat(LONG),
  "a text with halves of characters": "\ud83d".repeat(LONG),
  "a long list of numbers": Array.from({ length: LONG }, (_, at) => at - 5),
  "a long list of small objects": Array.from({ length: 5000 }, (_, at) => ({ at, text: "x, ]}" })),
  "an object with many names": Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`name ${at}`, [at]]),
  ),
  "long things beside short ones": [1, { a: ["b".repeat(LONG), 2], c: {} }, [], ["d".repeat(LONG)]],
  "long things far down": nest({ text: "e".repeat(LONG) }, 100),
};

function nest(value: unknown, depth: number): unknown {
  return depth === 0 ? value : [{ below: nest(value, depth - 1) }];
}

describe("large JSON", () => {
  for (const [name, value] of Object.entries(VALUES)) {
    it(`is parsed and written in slices as at once: ${name}`, async () => {
      const text = JSON.stringify(value);
      assert.ok((await write(value)) === text, "another text");
      assert.deepEqual(await parse(text), value);
      assert.deepEqual(await parse(JSON.stringify(value, null, 2)), value);
    });

    it(`has the same shape as bytes and as text: ${name}`, async () => {
      const text = JSON.stringify(value);
      const shape = await measureBytes(Buffer.from(text), createSlices("test"));
      assert.deepEqual(shape, measureJson(text));
    });
  }

  it("costs the same for texts of backslashes and quotes, at any depth", async () => {
    const nest = (text: string): string =>
      `${"[".repeat(120)}${JSON.stringify(text)}${"]".repeat(120)}`;
    const plain = nest("a".repeat(2_000_000));
    const time = async (text: string): Promise<number> => {
      const before = process.cpuUsage();
      await parse(text);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    await time(plain);
    for (const part of ["\\", '"', '\\"']) {
      const text = nest(part.repeat(1_000_000 / part.length));
      assert.deepEqual(await parse(text), JSON.parse(text));
      // Quadratic work would take thousands of times as long.
      assert.ok((await time(text)) < 100 * ((await time(plain)) + 10_000), part);
    }
  });

  it("may have much space in empty lists and objects", async () => {
    const space = " ".repeat(100_000);
    assert.deepEqual(await parse(`[[${space}],{${space}},1${space}]`), [[], {}, 1]);
    await assert.rejects(parse(`[1,${space}]`), SyntaxError);
  });

  it("is parsed and written in many turns of the event loop", async () => {
    const value = Array.from({ length: 10_000 }, () => ({ text: "é ".repeat(700) }));
    const written = await countTurns(() => write(value));
    assert.ok(written.turns >= 4, `written in ${written.turns} turns`);
    const read = await countTurns(() => parse(written.value));
    assert.ok(read.turns >= 4, `parsed in ${read.turns} turns`);
    assert.deepEqual(read.value, value);
  });

  it("keeps a member whose name is that of the prototype, as `JSON.parse` does", async () => {
    const text = `{"a":"${"b".repeat(LONG)}","__proto__":{"x":1},"c":2}`;
    const parsed = (await parse(text)) as object;
    assert.deepEqual(Object.keys(parsed), ["a", "__proto__", "c"]);
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
    assert.equal(await write(parsed), text);
  });

  it("keeps the last of two members of one name", async () => {
    const long = `"${"b".repeat(LONG)}"`;
    assert.deepEqual(await parse(`{"a":${long},"a":1}`), { a: 1 });
  });

  it("leaves out what JSON has no word for, as `JSON.stringify` does", async () => {
    const long = "b".repeat(LONG);
    const value = { a: undefined, b: [long, undefined], c: { d: undefined, long } };
    assert.equal(await write(value), JSON.stringify(value));
  });

  const long = `"${"b".repeat(LONG)}"`;
  const many = "1,".repeat(LONG);
  for (const [name, text] of Object.entries({
    nothing: "",
    "an open list": `[${long}`,
    "an open object": `{"a":${long}`,
    "an open text": long.slice(0, -1),
    "a comma before the end of a list": `[${many}]`,
    "a comma before the end of an object": `{"a":${long},}`,
    "two commas": `[${many},1]`,
    "a comma at the beginning": `[,${long}]`,
    "no comma": `[${long} ${long}]`,
    "no colon": `{"a" ${long}}`,
    "no name": `{${long.slice(0, 5)}${long}:1}`,
    "a name without quotes": `{a:${long}}`,
    "the wrong bracket at the end": `[${long}}`,
    "the wrong bracket inside": `[[1},${long}]`,
    "words after the end": `[${long}] 1`,
    "a word that is none": `[${long},nul]`,
    "a line break in a text": `["a\n${long.slice(1)}]`,
    "an escape that is none": `["\\x${long.slice(1)}]`,
  })) {
    it(`is refused when it is not JSON: ${name}`, async () => {
      assert.throws(() => JSON.parse(text), SyntaxError);
      await assert.rejects(parse(text), SyntaxError);
    });
  }
});
