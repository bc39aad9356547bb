/**
 * Schemas that attack: patterns, references and sizes that would block the whole process. Each is refused
 * or fails alone, on a model that is asked and on the built-in one, and the server stays healthy.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import {
  type AttackedServer,
  assertRefused,
  startAttacked,
} from "../attacks/server-attack-fixture.ts";
import type { Received } from "../server/guard/guard-fixture.ts";

const object = (properties: object, more: object = {}): object => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  ...more,
});
const many = (count: number, make: (at: number) => unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, make(at)]));

/** 2^30 ways to the same place. */
const forest: object = object(
  { a: { $ref: "#/$defs/a0" } },
  {
    $defs: {
      ...many(30, (at) => ({
        anyOf: [{ $ref: `#/$defs/a${at + 1}` }, { $ref: `#/$defs/a${at + 1}` }],
      })),
      a30: { type: "number", minimum: 1e9 },
    },
  },
);

/** The outcome comes soon: an answer, a failed answer or a refusal. */
const TRAPS: Readonly<Record<string, object>> = {
  "a pattern that never ends": object({
    a: { type: "string", pattern: "^(a+)+$" },
  }),
  "a name's pattern that never ends": {
    type: "object",
    patternProperties: { "^(a+)+$": { type: "string" } },
  },
  "50,000 properties": object(many(50_000, (at) => ({ type: "string", minLength: at }))),
  "a tree of alternatives": forest,
  itself: { type: "object", $ref: "#" },
  "a circle": object(
    { a: { $ref: "#/$defs/a" } },
    { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
  ),
  "a tree of itself": object({ a: { $ref: "#" }, b: { $ref: "#" } }),
  "a billion items": object({
    a: { type: "array", minItems: 1e9, items: { type: "string" } },
  }),
  "a billion characters": object({ a: { type: "string", minLength: 1e9 } }),
  "a pattern of a billion": object({
    a: { type: "string", pattern: "a{1000000000}" },
  }),
  "a hundred million names": { type: "object", minProperties: 1e8 },
  "names of prototypes": object(JSON.parse('{"__proto__":{"type":"string"}}') as object),
  "names that are code": object({
    '"];process.exit(7);//': { type: "string" },
  }),
};

const BROKEN: Readonly<Record<string, object>> = {
  "an invalid pattern": object({ a: { pattern: "(" } }),
  "an address elsewhere": object({
    a: { $ref: "http://127.0.0.1:9/schema.json" },
  }),
  "a file": object({ a: { $ref: "file:///etc/passwd" } }),
  "a place that is not there": object({ a: { $ref: "#/nowhere" } }),
};

function ask({ send }: AttackedServer, schema: object, text = "Hello"): Promise<Received> {
  const format = { type: "json_schema", name: "trap", schema };
  return send({ body: { input: text, text: { format }, store: false } });
}

/** A text for which the pattern is slow. */
const SLOW = JSON.stringify({
  a: `${"a".repeat(60)}!`,
  [`${"a".repeat(60)}!`]: "x",
});

/** The built-in model: it fills schemas itself, in this process. */
const EMBEDDED = { model: "embedded/offline", provider: null, url: null, api_key_name: null };
const OFFLINE = { settings: { models: { named: [], usual: EMBEDDED } } };

describe("schemas that attack", () => {
  for (const [name, setup] of Object.entries({ "a model": {}, "the embedded model": OFFLINE })) {
    it(`do not block the server, on ${name}`, async (t) => {
      const engine = respond(() => reply.text(SLOW));
      const server = await startAttacked(t, engine, setup);
      for (const [trap, schema] of Object.entries(TRAPS)) {
        const answer = await ask(server, schema);
        const told = `${trap}: ${answer.status} ${answer.text.slice(0, 300)}`;
        assert.ok([200, 400].includes(answer.status), told);
        if (answer.status !== 200) assertRefused(answer, { status: answer.status }, trap);
      }
      await server.isWell();
    });
  }

  it("are refused if they are invalid, and no address in them is read", async (t) => {
    const server = await startAttacked(t);
    for (const [name, schema] of Object.entries(BROKEN)) {
      const wanted = {
        status: 400,
        code: "invalid_request",
        message: /not a valid JSON Schema/,
      };
      assertRefused(await ask(server, schema), wanted, name);
    }
    assert.equal(server.upstream.requests.length, 0);
    await server.isWell();
  });

  it("do not block it by the beginning of an answer", async (t) => {
    const fences = [`\`\`\`${"\n".repeat(50_000)}x`, `\`\`\`json\n${"``` ".repeat(50_000)}x`];
    for (const text of fences) {
      const server = await startAttacked(
        t,
        respond(() => reply.text(text)),
      );
      const answer = await ask(server, object({ a: { type: "string" } }));
      assert.match(answer.text, /does not fit|not JSON/);
      await server.isWell();
    }
  });
});

describe("long texts", () => {
  const count = 200_000;
  const schema = object({
    a: { type: "number" },
    b: { type: "string" },
    c: { type: "array" },
  });
  const texts: Readonly<Record<string, string>> = {
    digits: "1".repeat(count),
    "digits and commas": "1,".repeat(count / 2),
    spaces: `a${" ".repeat(count)}b`,
    lines: "\n".repeat(count),
    quotes: '"'.repeat(count),
    brackets: "(".repeat(count),
    braces: "{".repeat(count / 4),
    names: "A ".repeat(count / 2),
    fences: "`".repeat(count),
  };
  it("do not block the embedded model", async (t) => {
    const server = await startAttacked(t, undefined, OFFLINE);
    for (const [name, text] of Object.entries(texts)) {
      const answer = await ask(server, schema, text);
      assert.ok(answer.status < 500, `${name}: ${answer.text.slice(0, 200)}`);
    }
  });
});
