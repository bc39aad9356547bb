import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { encodeRequest, relaxRequest } from "../../../src/providers/cohere/encode.ts";
import { toOutputSchema } from "../../../src/providers/cohere/output-schema.ts";
import { JSON_RULE } from "../../../src/providers/json-rule.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { request, WEATHER } from "../provider-contract.ts";

const encode = (more: Partial<ModelRequest> = {}): JsonObject => encodeRequest(request(more), {});

const instructionsOf = (body: JsonObject): string =>
  String((body["messages"] as readonly JsonObject[])[0]?.["content"]);

describe("a request to cohere", () => {
  it("has the requested fields and no others", () => {
    assert.deepEqual(encode(), {
      model: "test-model",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
      stream: true,
      thinking: { type: "disabled" },
    });
  });

  it("asks for one piece if the client does not stream", () => {
    assert.equal(encode({ whole: true })["stream"], false);
  });

  it("calls sampling by the API's own names", () => {
    const options = { stop: ["END"], frequency_penalty: 0.5 };
    const sampling = { temperature: 0.4, top_p: 0.9, max_output_tokens: 50 };
    const { temperature, p, max_tokens, stop_sequences, frequency_penalty } = encode({
      ...sampling,
      options,
    });
    assert.deepEqual(
      [temperature, p, max_tokens, stop_sequences, frequency_penalty],
      [0.4, 0.9, 50, ["END"], 0.5],
    );
  });

  it("cuts off as little or as much as the API allows", () => {
    assert.deepEqual([encode({ top_p: 1 })["p"], encode({ top_p: 0 })["p"]], [0.99, 0.01]);
  });

  it("thinks as much as requested, and leaves room for the answer", () => {
    const think = (effort: ModelRequest["reasoning"]["effort"], max_output_tokens?: number) =>
      encode({ reasoning: { effort, summary: undefined }, max_output_tokens })["thinking"];
    assert.equal(think(undefined), undefined);
    assert.deepEqual(think("none"), { type: "disabled" });
    assert.deepEqual(think("low"), { type: "enabled", token_budget: 4096 });
    assert.deepEqual(think("medium", 3000), { type: "enabled", token_budget: 2000 });
    assert.deepEqual(think("minimal", 16), { type: "enabled", token_budget: 1 });
    assert.deepEqual(think("max"), { type: "enabled" });
  });
});

describe("tools of a request to cohere", () => {
  const FORECAST = { ...WEATHER, name: "forecast" };
  const tools = [WEATHER, FORECAST];
  const namesOf = (body: JsonObject): unknown =>
    (body["tools"] as readonly { function: { name: string } }[]).map((tool) => tool.function.name);

  it("are sent with their schemas, under names that the API accepts", () => {
    const odd = { type: "function" as const, name: "2.look-up" };
    assert.deepEqual(encode({ tools: [WEATHER, odd] })["tools"], [
      {
        type: "function",
        function: {
          name: "weather",
          description: "The weather of a city.",
          parameters: WEATHER.parameters,
        },
      },
      {
        type: "function",
        function: { name: "_2_look_up", parameters: { type: "object", properties: {} } },
      },
    ]);
  });

  it("are chosen in the API's words", () => {
    const named = [{ type: "function", name: "weather" }];
    const rows: readonly [ModelRequest["tool_choice"], unknown, unknown][] = [
      ["auto", undefined, ["weather", "forecast"]],
      ["none", "NONE", ["weather", "forecast"]],
      ["required", "REQUIRED", ["weather", "forecast"]],
      [{ type: "function", name: "forecast" }, "REQUIRED", ["forecast"]],
      [{ type: "allowed_tools", mode: "auto", tools: named }, undefined, ["weather"]],
      [{ type: "allowed_tools", mode: "required", tools: named }, "REQUIRED", ["weather"]],
    ];
    for (const [tool_choice, choice, names] of rows) {
      const body = encode({ tools, tool_choice });
      assert.deepEqual([body["tool_choice"], namesOf(body)], [choice, names]);
    }
    assert.equal(encode({ tool_choice: "required" })["tool_choice"], undefined);
  });

  it("are strict if all are to be, and can be", () => {
    const strict = { ...WEATHER, strict: true };
    assert.equal(encode({ tools: [strict] })["strict_tools"], true);
    assert.equal(encode({ tools: [strict, FORECAST] })["strict_tools"], undefined);
    const free = { ...strict, parameters: { type: "object", properties: { a: {} } } };
    assert.equal(encode({ tools: [free] })["strict_tools"], undefined);
  });
});

describe("the format of a cohere answer", () => {
  const schema = {
    type: "object",
    properties: { age: { type: "integer", minimum: 0 } },
    required: ["age"],
    additionalProperties: false,
  };
  const format = { type: "json_schema" as const, name: "out", schema, strict: true };

  it("is a schema without what the API refuses in one, and the prompt mentions JSON", () => {
    const body = encode({ format });
    const age = { type: "integer" };
    const json_schema = { ...schema, properties: { age } };
    assert.deepEqual(body["response_format"], { type: "json_object", json_schema });
    assert.equal(instructionsOf(body), `Be brief.\n\n${JSON_RULE}`);
  });

  it("is in the instructions if there are tools", () => {
    const body = encode({ format, tools: [WEATHER] });
    assert.equal(body["response_format"], undefined);
    assert.ok(instructionsOf(body).endsWith(JSON.stringify(schema)));
  });

  it("is in the instructions if the API cannot express the schema", () => {
    const open = { ...format, schema: { type: "object", properties: {} } };
    const body = encode({ format: open });
    assert.deepEqual(body["response_format"], { type: "json_object" });
    assert.ok(instructionsOf(body).endsWith(JSON.stringify(open.schema)));
  });

  it("is an object of any shape", () => {
    const body = encode({ format: { type: "json_object" }, instructions: "Write JSON." });
    assert.deepEqual(body["response_format"], { type: "json_object" });
    assert.equal(instructionsOf(body), "Write JSON.");
  });
});

describe("a schema for cohere", () => {
  const of = (a: JsonObject): JsonObject => ({
    type: "object",
    properties: { a },
    required: ["a"],
  });

  it("keeps what the API enforces", () => {
    const kept = of({
      anyOf: [{ type: "string", format: "date" }, { $ref: "#/$defs/b" }, { enum: [1, 2] }],
    });
    assert.deepEqual(toOutputSchema(kept), kept);
  });

  it("loses limits, anchors and formats that the API does not support", () => {
    for (const limit of [
      { maxLength: 3 },
      { pattern: "^a$" },
      { format: "email" },
      { uniqueItems: true },
    ]) {
      assert.deepEqual(toOutputSchema(of({ type: "string", ...limit })), of({ type: "string" }));
    }
    const one = of({ oneOf: [{ type: "string" }] });
    assert.deepEqual(toOutputSchema(one), of({ anyOf: [{ type: "string" }] }));
  });

  it("cannot be expressed if it is joined, empty or not an object", () => {
    assert.equal(toOutputSchema({ type: "array", items: {} }), undefined);
    assert.equal(toOutputSchema(of({ allOf: [] })), undefined);
    assert.equal(toOutputSchema(of({ type: "object" })), undefined);
    assert.equal(toOutputSchema(of({ items: { not: {} } })), undefined);
    assert.equal(toOutputSchema(of({ anyOf: [{ type: "object" }] })), undefined);
  });
});

describe("a request that cohere refused", () => {
  const refusal = (message: string): Failure => new Failure("provider_rejected", message);
  const think = { effort: "high", summary: undefined } as const;

  it("is sent again without what was refused", () => {
    const asked = request({ reasoning: think, tools: [{ ...WEATHER, strict: true }] });
    const thoughtless = relaxRequest(asked, refusal("thinking is not supported"));
    assert.equal(thoughtless?.reasoning.effort, undefined);
    const free = relaxRequest(asked, refusal("strict_tools is not supported"));
    assert.ok(free?.tools.every((tool) => tool.type === "function" && !tool.strict));
  });

  it("has its schema in the instructions the second time", () => {
    const schema = { type: "object", properties: { a: {} }, required: ["a"] };
    const format = { type: "json_schema" as const, name: "o", schema, strict: true };
    const told = relaxRequest(request({ format }), refusal("schema too large"));
    const body = encodeRequest(told ?? assert.fail(), {});
    assert.deepEqual(body["response_format"], { type: "json_object" });
    assert.ok(instructionsOf(body).endsWith(JSON.stringify(schema)));
  });

  it("is not sent again for anything else", () => {
    const asked = request({ reasoning: think });
    assert.equal(relaxRequest(asked, refusal("temperature must be lower")), undefined);
    const failure = new Failure("provider_failed", "thinking");
    assert.equal(relaxRequest(asked, failure), undefined);
  });
});
