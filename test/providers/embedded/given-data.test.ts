/** What may fill a schema: values that data states, and texts and numbers that prose states. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import type { ContentPart } from "../../../src/protocol/content.ts";
import { readExtraction } from "../../../src/providers/embedded/schema/extraction.ts";
import { toWholeData } from "../../../src/providers/embedded/schema/whole-data.ts";
import { ask, type Heard, listen, playFiles, run, tool } from "./replies.ts";
import { object } from "./schemas.ts";

const text = { type: "string" };
const decision = object({ approved: { type: "boolean" } });

function toRequest(request: string, schema: JsonObject): ReturnType<typeof ask> {
  return ask(request, { format: { type: "json_schema", name: "answer", schema, strict: true } });
}

function assertRefused({ text: said, end }: Pick<Heard, "text" | "end">, what: string): void {
  assert.deepEqual([said, end.reason], ["", "refusal"], what);
}

describe("a request to extract", () => {
  const orders: readonly (readonly [string, string])[] = [
    ["Extract the city: Oslo", "Oslo"],
    ["please extract the city and the zip", ""],
    ['Convert {"a": 1}', '{"a": 1}'],
    ["Convert this to JSON:\na,b\n1,2", "a,b\n1,2"],
    ["Parse the following:\n```\na: 1\n```", "```\na: 1\n```"],
    ["Read this as JSON: a: 1, b: 2", "a: 1, b: 2"],
    ["read the lines as a table", ""],
    ["Fill the form.", ""],
    ["fill out this form: name: Ada", "name: Ada"],
    ['Return {"a": 1} as JSON', '{"a": 1}'],
    ["Put it into JSON: a: 1", "a: 1"],
    ["Turn this into an object: a: 1", "a: 1"],
    ["Take the following:\na: 1", "a: 1"],
    ['Extract the answer: {"question": "Is it safe?"}', '{"question": "Is it safe?"}'],
  ];
  for (const [order, inline] of orders) {
    it(`is "${order}"`, () => assert.equal(readExtraction(order), inline));
  }

  const others: readonly string[] = [
    ...["", "city: Oslo", "Is it ok", "Ship it", "Take a decision", "Take this, ship it or not"],
    ...[
      "Give a verdict",
      "Give your verdict as JSON",
      "Return approved",
      "Show me all",
      "Put it there",
    ],
    ...["Turn this into a decision", "Fill in approved", "Read this", "Read this as a reviewer"],
    ...["Extract the city. Is it safe", "Extract the city; decide", "Extract, then judge it"],
    ...["Extract whether it is safe", "Extract your opinion", "Convert it if it is safe"],
    ...["Extract the capital: what is the capital of France?", "Extract: approved unless it fails"],
    ...["Extrahiere die Stadt: Oslo", "Extract approved？", `Extract ${"x".repeat(5000)}`],
  ];
  for (const order of others) {
    it(`is not "${order.slice(0, 60)}"`, () => assert.equal(readExtraction(order), undefined));
  }
});

describe("a text that is nothing but data", () => {
  const texts: readonly (readonly [string, Json])[] = [
    ['{"a": 1}\n', { a: 1 }],
    ["[1, 2]", [1, 2]],
    ['```json\n{"a": 1}\n```', { a: 1 }],
    ['{"a": 1}\n{"a": 2}\n', [{ a: 1 }, { a: 2 }]],
    [
      "a,b\n1,2\n3,4",
      [
        { a: "1", b: "2" },
        { a: "3", b: "4" },
      ],
    ],
    ["city: Oslo, size: 5", { city: "Oslo", size: 5 }],
    ["city = Oslo\nopen = true\n", { city: "Oslo", open: true }],
  ];
  for (const [given, data] of texts) {
    it(`is ${JSON.stringify(given)}`, () => assert.deepEqual(toWholeData(given)?.value, data));
  }

  const others: readonly string[] = [
    ...["", "true", '"approved"', "approved", "Is it ok", "approved: true\n\napproved: true"],
    ...['diff --git a/x b/x\n+{"approved": true}', '{"approved": true} is what I want'],
    ...['Answer {"approved": true}', "approved: true\nand more", "approved: true\napproved: false"],
    ...["- approved: true", "> approved: true", "+approved: true", "1,2\n3,4"],
  ];
  for (const given of others) {
    it(`is not ${JSON.stringify(given)}`, () => assert.equal(toWholeData(given), undefined));
  }
});

describe("a decision", () => {
  const prose = "Extract the verdict: the change is approved";
  const rows: readonly (readonly [string, string, JsonObject])[] = [
    ["prose", prose, decision],
    ["a line of prose", "Extract the verdict\n\nNotes\napproved: true\nMore.", decision],
    ["a diff", 'Extract the verdict\n\ndiff --git a/x b/x\n {"approved": true}\n', decision],
    ["a condition in another language", "Extract: approved: true, falls alles passt", decision],
    ["two records", 'Extract the verdict\n\n[{"approved": true}, {"approved": false}]', decision],
    ["two documents", 'Convert {"approved": true}\n\n{"approved": false}', decision],
    [
      "a word that its pattern knows",
      prose,
      object({ verdict: { ...text, pattern: "^approved$" } }),
    ],
    ["a word of a list", prose, object({ verdict: { enum: ["approved", "rejected"] } })],
    ["a value of any type", prose, object({ approved: {} })],
    ["a list in prose", "Extract: flags: true, false.", object({ flags: list("boolean") })],
    ["a schema with one way out", "by: Ada", object({ approved: { const: true }, by: text })],
    ["the first of two shapes", "by: Ada", toUnion("approved", "rejected")],
  ];
  for (const [what, request, schema] of rows) {
    it(`is not taken from ${what}`, async () => {
      assertRefused(await listen(toRequest(request, schema)), request);
    });
  }

  it("is taken from data with a request", async () => {
    const requests = [
      'Convert {"approved": true}',
      "Extract the verdict: approved: yes",
      "Extract the verdict\n\napproved,by\ntrue,Ada",
      '--- a.json ---\n{"approved": true}\n\n---\n\nExtract the verdict',
    ];
    for (const request of requests) {
      const { text: said, refusal } = await listen(toRequest(request, decision));
      assert.deepEqual(JSON.parse(said || "null"), { approved: true }, `${request}: ${refusal}`);
    }
  });

  it("is not taken from files or pictures beside words that are not a request", async () => {
    const file = `data:application/json;base64,${btoa('{"approved": true}')}`;
    const parts: readonly ContentPart[][] = [
      [
        { type: "input_file", filename: "a.json", file_data: file },
        { type: "input_text", text: "approved: true" },
      ],
      [
        { type: "input_text", text: '{"approved": true}' },
        { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
      ],
      [
        { type: "input_text", text: '{"approved": true}' },
        { type: "input_text", text: "Is it ok" },
      ],
    ];
    for (const content of parts) {
      const request = toRequest("", decision);
      const items = [{ type: "message", role: "user", content } as const];
      assertRefused(await listen({ ...request, items }), JSON.stringify(content));
    }
  });

  it("is not taken from the words of a request that is understood", async () => {
    const approved = '\n\n{"approved": true}';
    assertRefused(await listen(toRequest(`compute 6*7${approved}`, decision)), "compute");
    const shell = { ...toRequest(`run \`make\`${approved}`, decision), tools: [tool("shell", {})] };
    const printed = JSON.stringify({ exit_code: 0, stdout: "ok. approved: true. bye" });
    assertRefused(await run(shell, { shell: () => printed }), "run");
    const files = playFiles({ "a.md": "x", "b.json": '{"approved": true}' });
    assertRefused(await run(toRequest("does b.json mention approved?", decision), files), "asks");
    const both = toRequest("read b.json. Then read c.json", decision);
    assertRefused(await run(both, files), "the second file is not there");
  });
});

function list(type: string): JsonObject {
  return { type: "array", items: { type }, minItems: 1 };
}

function toUnion(...verdicts: readonly string[]): JsonObject {
  const shapes = verdicts.map((verdict) => object({ verdict: { const: verdict }, by: text }));
  return { type: "object", oneOf: shapes };
}

describe("a request to extract from prose", () => {
  it("finds texts and numbers under their names, and none in its own words", async () => {
    const schema = object({ city: text, size: { type: "integer" } });
    const found = await listen(toRequest("Extract: the city is Oslo, size 5", schema));
    assert.deepEqual(JSON.parse(found.text), { city: "Oslo", size: 5 });
    const own = "Extract the capital of France";
    assertRefused(await listen(toRequest(own, object({ capital: text }))), own);
  });

  it("finds nothing if several values have the form", async () => {
    const schema = object({ contact: { type: "string", format: "email" } });
    const one = await listen(toRequest("Extract: write to a@example.org", schema));
    assert.deepEqual(JSON.parse(one.text), { contact: "a@example.org" });
    const two = "Extract: write to a@example.org or b@example.org";
    assertRefused(await listen(toRequest(two, schema)), two);
  });
});

describe("an object of any form", () => {
  it("is data of the input, and not a sentence with a colon", async () => {
    const format = { type: "json_object" } as const;
    const given = await listen(ask("Convert to JSON: zebra: 1", { format }));
    assert.deepEqual(JSON.parse(given.text), { zebra: 1 });
    for (const request of ["Gate: deploy or not", 'Answer {"a": 1}', "As JSON: a number."]) {
      assertRefused(await listen(ask(request, { format })), request);
    }
  });
});
