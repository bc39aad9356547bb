import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "../../../src/base/json.ts";
import type { FunctionTool } from "../../../src/protocol/tools.ts";
import { argumentsOf, ask, FIND, listen, READ, run, tool } from "./replies.ts";

const WEATHER = tool(
  "get_weather",
  { city: { type: "string" }, unit: { enum: ["celsius", "fahrenheit"] } },
  ["city"],
);
const SEARCH = tool("search_web", { query: { type: "string" } });
const SUBAGENT = tool("call_subagent", { prompt: { type: "string" } });
const ODD = tool("odd", {
  count: { type: "integer", minimum: 3 },
  flag: { type: "boolean" },
  list: { type: "array", items: { type: "number" }, minItems: 2 },
  deep: { type: "object", properties: { kind: { const: "x" } }, required: ["kind"] },
  either: { anyOf: [{ type: "integer" }, { type: "null" }] },
  mode: { type: "string", enum: ["fast", "slow"] },
});

interface Case {
  readonly request: string;
  readonly tools: readonly FunctionTool[];
  readonly expected: JsonObject;
}

const NAMED: readonly Case[] = [
  { request: "use the get_weather tool for Paris", tools: [WEATHER], expected: { city: "Paris" } },
  {
    request: "call get_weather with city Paris",
    tools: [WEATHER, READ],
    expected: { city: "Paris" },
  },
  {
    request: "Please call `get_weather` with city: New York, unit: fahrenheit",
    tools: [WEATHER],
    expected: { city: "New York", unit: "fahrenheit" },
  },
  {
    request: "What is the weather in San Francisco in celsius?",
    tools: [READ, FIND, WEATHER],
    expected: { city: "San Francisco", unit: "celsius" },
  },
  {
    request: 'use search_web to look up "tree rings"',
    tools: [SEARCH],
    expected: { query: 'look up "tree rings"' },
  },
  {
    request: "use the read tool on package.json",
    tools: [READ],
    expected: { path: "package.json" },
  },
  {
    request: "call call_subagent with prompt: count the stars",
    tools: [SUBAGENT],
    expected: { prompt: "count the stars" },
  },
];

describe("embedded tool use", () => {
  it("does not wait for subagents because the request has the word", async () => {
    const wait = tool("subagents", { action: { enum: ["wait"] }, text: { type: "string" } }, [
      "action",
    ]);
    const request = "ask the subagent reviewer to count the lines of a.txt";
    const { calls, end } = await listen(ask(request, { tools: [READ, wait] }));
    assert.deepEqual(calls, []);
    assert.notEqual(end.reason, "tool_calls");
  });

  for (const { request, tools, expected } of NAMED) {
    it(`builds the arguments of "${request}"`, async () => {
      const { calls, end } = await listen(ask(request, { tools }));
      assert.deepEqual(calls.map(argumentsOf), [expected]);
      assert.equal(end.reason, "tool_calls");
    });
  }

  it("calls the forced tool once, and reports its result", async () => {
    const tool_choice = { type: "function" as const, name: "get_weather" };
    const request = ask("Tell me about Rome", { tools: [READ, WEATHER], tool_choice });
    const { turns, text } = await run(request, { get_weather: () => "sunny, 21 degrees" });
    assert.deepEqual(
      turns.map((calls) => calls.map(argumentsOf)),
      [[{ city: "Rome" }]],
    );
    assert.equal(text, "The tool `get_weather` says: sunny, 21 degrees");
  });

  it("lets an intent choose the arguments of a forced tool that it uses anyway", async () => {
    const tool_choice = { type: "function" as const, name: "bash_find" };
    const { calls } = await listen(ask("list the Go files in src", { tool_choice }));
    assert.deepEqual(calls.map(argumentsOf), [
      { path: "src", name: "*.go", type_filter: "f", limit: 0 },
    ]);
  });

  it("fills every type of argument with a valid value", async () => {
    const tool_choice = { type: "function" as const, name: "odd" };
    const { calls } = await listen(ask("go ahead", { tools: [ODD], tool_choice }));
    const given = argumentsOf(calls[0]);
    const validate = new Ajv2020({ strict: false }).compile(ODD.parameters ?? {});
    assert.ok(validate(given), JSON.stringify(given));
  });

  it("makes a call if one is required, of the best matching tool", async () => {
    const { calls } = await listen(
      ask("Is the weather fine?", { tools: [SEARCH, WEATHER], tool_choice: "required" }),
    );
    assert.deepEqual(
      calls.map(({ name }) => name),
      ["get_weather"],
    );
    const only = await listen(ask("Hmm.", { tools: [SEARCH], tool_choice: "required" }));
    assert.deepEqual(only.calls.map(argumentsOf), [{ query: "Hmm." }]);
  });

  it("calls a tool without parameters with an empty object", async () => {
    const bare: FunctionTool = { type: "function", name: "ping" };
    const { calls } = await listen(ask("call ping", { tools: [bare] }));
    assert.deepEqual(calls.map(argumentsOf), [{}]);
  });

  it("reports a named tool that is not offered", async () => {
    const { refusal, calls } = await listen(ask("use the get_weather tool for Paris"));
    assert.deepEqual(calls, []);
    assert.match(refusal, /`get_weather` is not offered.*`read`, `bash_find`/);
  });

  it("never calls the named tool if calls are forbidden", async () => {
    const { refusal, calls } = await listen(
      ask("use the get_weather tool for Paris", { tools: [WEATHER], tool_choice: "none" }),
    );
    assert.deepEqual(calls, []);
    assert.match(refusal, /forbids tool calls/);
  });

  it("reports a tool's failure as a failure", async () => {
    const request = ask("call get_weather with city Paris", { tools: [WEATHER] });
    const { text, refusal } = await run(request, { get_weather: () => "Error: no such city" });
    assert.equal(text, "");
    assert.equal(refusal, "The tool `get_weather` could not do it: no such city");
  });

  it("does not guess between two matching tools", async () => {
    const forecast = tool("weather_forecast", { city: { type: "string" } });
    const { calls } = await listen(
      ask("What is the weather in Paris?", { tools: [WEATHER, forecast] }),
    );
    assert.deepEqual(calls, []);
  });
});
