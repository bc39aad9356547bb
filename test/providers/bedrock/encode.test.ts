import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { ToolChoice } from "../../../src/protocol/tools.ts";
import { encodeRequest } from "../../../src/providers/bedrock/encode.ts";
import { bedrockWire } from "../../../src/providers/bedrock/wire.ts";
import type {
  ModelRequest,
  OutputFormat,
  ReasoningOptions,
} from "../../../src/providers/provider.ts";
import { request } from "../provider-contract.ts";
import { assistant, CLAUDE, call, encode, output, READ, result, use, user } from "./converse.ts";

const READ_CHOICE = { type: "function", name: "read" };
const OTHER = { type: "function" as const, name: "other" };

describe("a converse body", () => {
  it("has every parameter in its field", () => {
    const body = encode({
      instructions: "Be brief.",
      items: [
        user("Read it"),
        assistant("Let me."),
        call("c1", '{"path":"a"}'),
        output("c1", "one"),
      ],
      tools: [READ],
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 100,
    });
    assert.deepEqual(body, {
      messages: [
        { role: "user", content: [{ text: "Read it" }] },
        { role: "assistant", content: [{ text: "Let me." }, use("c1", { path: "a" })] },
        { role: "user", content: [result("c1", "one")] },
      ],
      system: [{ text: "Be brief." }],
      inferenceConfig: { maxTokens: 100, temperature: 0, topP: 0.5 },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: "read",
              description: "Reads.",
              inputSchema: { json: READ.parameters },
            },
          },
        ],
        toolChoice: { auto: {} },
      },
    });
  });

  it("has nothing that the request did not set", () => {
    assert.deepEqual(encode(), { messages: [{ role: "user", content: [{ text: "Hello" }] }] });
  });

  it("is sent to the model's own address", () => {
    assert.equal(
      bedrockWire.path(request({ model: CLAUDE })),
      "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
    );
    const arn = "arn:aws:bedrock:us-east-1:1:inference-profile/us.x";
    assert.match(bedrockWire.path(request({ model: arn })), /profile%2Fus\.x\/converse-stream$/);
  });

  it("leaves out what a quirk says the vendor refuses", () => {
    const body = encodeRequest(request({ temperature: 1 }), { refuses: ["inferenceConfig"] });
    assert.equal(body["inferenceConfig"], undefined);
  });

  const choices: readonly [choice: ToolChoice, model: string, encoded: object][] = [
    ["required", CLAUDE, { any: {} }],
    [{ type: "function", name: "read" }, CLAUDE, { tool: { name: "read" } }],
    [{ type: "function", name: "read" }, "anthropic.claude-opus-5-5", { auto: {} }],
    [{ type: "allowed_tools", mode: "required", tools: [READ_CHOICE] }, CLAUDE, { any: {} }],
    [{ type: "allowed_tools", mode: "auto", tools: [READ_CHOICE] }, CLAUDE, { auto: {} }],
  ];
  for (const [toolChoice, model, encoded] of choices) {
    it(`says ${JSON.stringify(encoded)} for ${JSON.stringify(toolChoice)} to ${model}`, () => {
      const { toolConfig } = encode({ model, tools: [READ], tool_choice: toolChoice });
      assert.deepEqual(toolConfig?.toolChoice, encoded);
    });
  }

  it("offers only the tools that may be called", () => {
    const namesOf = (toolChoice: ToolChoice, model = CLAUDE) => {
      const { toolConfig } = encode({ model, tools: [READ, OTHER], tool_choice: toolChoice });
      return toolConfig?.tools.map((entry) => "toolSpec" in entry && entry.toolSpec.name);
    };
    const named: ToolChoice = { type: "function", name: "read" };
    assert.deepEqual(namesOf(named), ["read", "other"]);
    assert.deepEqual(namesOf(named, "anthropic.claude-opus-5-5"), ["read"]);
    const allowed: ToolChoice = { type: "allowed_tools", mode: "auto", tools: [READ_CHOICE] };
    assert.deepEqual(namesOf(allowed), ["read"]);
    assert.equal(namesOf("none"), undefined);
  });

  it("limits only Claude to one call at a time", () => {
    const asked = { tools: [READ], parallel_tool_calls: false };
    assert.deepEqual(encode({ ...asked, model: CLAUDE }).additionalModelRequestFields, {
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    });
    assert.equal(encode(asked).additionalModelRequestFields, undefined);
  });
});

describe("thinking", () => {
  const think = (
    model: string,
    effort: ReasoningOptions["effort"],
    more: Partial<ModelRequest> = {},
  ): unknown[] => {
    const reasoning = { effort, summary: "auto" } as const;
    const body = encode({ model, reasoning, ...more });
    const { additionalModelRequestFields, outputConfig, inferenceConfig } = body;
    return [additionalModelRequestFields, outputConfig, inferenceConfig];
  };
  const budget = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } });
  const adaptive = { thinking: { type: "adaptive", display: "summarized" } };
  const cases: readonly [name: string, given: unknown[], expected: unknown[]][] = [
    [
      "a budget for older Claudes",
      think(CLAUDE, "high"),
      [budget(16384), undefined, { maxTokens: 24384 }],
    ],
    [
      "a budget within the limit",
      think(CLAUDE, "high", { max_output_tokens: 2000 }),
      [budget(1999), undefined, { maxTokens: 2000 }],
    ],
    [
      "nothing where the limit leaves no room",
      think(CLAUDE, "high", { max_output_tokens: 1000 }),
      [undefined, undefined, { maxTokens: 1000 }],
    ],
    [
      "an effort for newer ones",
      think("global.anthropic.claude-opus-4-8", "xhigh"),
      [adaptive, { effort: "xhigh" }, undefined],
    ],
    [
      "an effort that 4.6 knows",
      think("us.anthropic.claude-opus-4-6-v1", "xhigh"),
      [{ thinking: { type: "adaptive" } }, { effort: "high" }, undefined],
    ],
    [
      "nothing for Claudes that do not think",
      think("anthropic.claude-3-haiku-20240307-v1:0", "high"),
      [undefined, undefined, undefined],
    ],
    ["nothing when not asked", think(CLAUDE, "none"), [undefined, undefined, undefined]],
    [
      "a word against it where it is the default",
      think("us.anthropic.claude-opus-5", "none"),
      [{ thinking: { type: "disabled" } }, undefined, undefined],
    ],
    [
      "the vendor's choice",
      think("us.anthropic.claude-opus-5", undefined),
      [undefined, undefined, undefined],
    ],
    [
      "nothing beside a forced tool",
      think(CLAUDE, "high", { tools: [READ], tool_choice: "required" }),
      [undefined, undefined, undefined],
    ],
    [
      "Nova's words",
      think("us.amazon.nova-2-lite-v1:0", "high", { max_output_tokens: 100 }),
      [{ reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } }, undefined, undefined],
    ],
    [
      "the words of gpt-oss",
      think("openai.gpt-oss-120b-1:0", "minimal"),
      [{ reasoning_effort: "low" }, undefined, undefined],
    ],
    ["nothing for others", think("deepseek.r1-v1:0", "high"), [undefined, undefined, undefined]],
  ];
  for (const [name, given, expected] of cases) {
    it(`is ${name}`, () => assert.deepEqual(given, expected));
  }
});

describe("structured output", () => {
  const schema = { type: "object", properties: { a: { type: "number" } } };
  const format = (strict: boolean): OutputFormat => ({
    type: "json_schema",
    name: "out",
    schema,
    strict,
  });

  it("is held to a strict schema in the API's own field", () => {
    const { outputConfig, toolConfig } = encode({ format: format(true) });
    assert.deepEqual(outputConfig, {
      textFormat: {
        type: "json_schema",
        structure: { jsonSchema: { schema: JSON.stringify(schema), name: "out" } },
      },
    });
    assert.equal(toolConfig, undefined);
  });

  it("is the input of a forced tool if the schema is not strict", () => {
    const { outputConfig, toolConfig } = encode({ format: format(false) });
    assert.equal(outputConfig, undefined);
    assert.deepEqual(toolConfig?.toolChoice, { tool: { name: "json" } });
    const many = encode({ format: format(false), tools: [READ] });
    assert.deepEqual(many.toolConfig?.toolChoice, { any: {} });
    assert.equal(many.toolConfig?.tools.length, 2);
  });

  it("is requested in the instructions if no tool can be forced", () => {
    const { toolConfig, system } = encode({
      model: "anthropic.claude-opus-5-5",
      format: format(false),
    });
    assert.deepEqual(toolConfig?.toolChoice, { auto: {} });
    assert.match(JSON.stringify(system), /calling the tool `json`/);
  });

  it("without a schema is refused before anything is sent", () => {
    assert.throws(() => encode({ format: { type: "json_object" } }), {
      code: "invalid_request",
      param: "text.format",
    });
  });

  it("is sent without `strict` if the model refuses it", () => {
    const rejected = (message: string) => new Failure("provider_rejected", message);
    const asked = request({ format: format(true) });
    const mended = bedrockWire.recover?.(asked, rejected("output_config.format.schema: no"));
    assert.deepEqual(mended?.format, format(false));
    assert.equal(bedrockWire.recover?.(asked, rejected("The model is not there.")), undefined);
    const relaxed = bedrockWire.recover?.(request(), rejected("thinking.type.disabled: no"));
    assert.equal(relaxed?.reasoning.effort, undefined);
  });
});

describe("cache points", () => {
  const long = "Be brief. ".repeat(600);
  const point = { cachePoint: { type: "default" } };
  const pointsOf = (model: string, more: Partial<ModelRequest> = {}) => {
    const { system, toolConfig, messages } = encode({ model, instructions: long, ...more });
    return [system, toolConfig?.tools, messages.at(-1)?.content].map(
      (list) => JSON.stringify(list?.at(-1)) === JSON.stringify(point),
    );
  };

  it("follow system, tools and the end of the conversation if Claude will be asked again", () => {
    assert.deepEqual(pointsOf(CLAUDE, { tools: [READ] }), [true, true, true]);
    const items = [user("A"), assistant("B"), user("C")];
    assert.deepEqual(pointsOf(CLAUDE, { items }), [true, false, true]);
  });

  it("are not set if they would not save anything", () => {
    assert.deepEqual(pointsOf(CLAUDE), [false, false, false]);
    assert.deepEqual(pointsOf(CLAUDE, { instructions: "Short.", tools: [READ] }), [
      false,
      false,
      false,
    ]);
  });

  it("are not set if the model refuses them", () => {
    assert.deepEqual(pointsOf("us.amazon.nova-pro-v1:0", { tools: [READ] }), [true, false, true]);
    for (const model of ["meta.llama4-v1:0", "anthropic.claude-3-haiku-20240307-v1:0", "arn:x/y"]) {
      assert.deepEqual(pointsOf(model, { tools: [READ] }), [false, false, false]);
    }
  });
});
