import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { ToolChoice } from "../../../src/protocol/tools.ts";
import type { GeminiRequest } from "../../../src/providers/gemini/schema.ts";
import { geminiWire, vertexGeminiWire } from "../../../src/providers/gemini/wire.ts";
import type { ModelRequest, ReasoningOptions } from "../../../src/providers/provider.ts";
import { request } from "../provider-contract.ts";

const encode = (more: Partial<ModelRequest> = {}, wire = geminiWire): GeminiRequest =>
  wire.encode(request({ instructions: undefined, ...more }), {}) as GeminiRequest;

const tool = (parameters: JsonObject | null) => ({
  type: "function" as const,
  name: "read",
  parameters,
});

const said = (role: "user" | "model", ...texts: readonly string[]) => ({
  role,
  parts: texts.map((text) => ({ text })),
});
describe("a gemini request", () => {
  it("is sent to its model's address", () => {
    const path = (model: string, wire = geminiWire) => wire.path(request({ model }));
    assert.equal(path("gemini-3-pro"), "/models/gemini-3-pro:streamGenerateContent?alt=sse");
    assert.equal(path("tunedModels/a b"), "/tunedModels/a%20b:streamGenerateContent?alt=sse");
    assert.equal(
      path("gemini-3-pro", vertexGeminiWire),
      "/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
    );
  });

  it("has only what was requested", () => {
    assert.deepEqual(encode(), { contents: [said("user", "Hello")] });
  });

  it("contains instructions, limits and sampling", () => {
    const body = encode({
      instructions: "Be brief.",
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 9,
    });
    assert.deepEqual(body.systemInstruction, said("user", "Be brief."));
    assert.deepEqual(body.generationConfig, { temperature: 0, topP: 0.5, maxOutputTokens: 9 });
  });

  it("sends the instructions as the user's if there is nothing else", () => {
    const system = { type: "message", role: "system", content: "B" } as const;
    const body = encode({ instructions: "A", items: [system] });
    assert.deepEqual(body, { contents: [said("user", "A", "B")] });
    assert.throws(() => encode({ items: [] }), { code: "invalid_request", param: "input" });
  });

  it("offers functions with schemas in the vendor's words", () => {
    const parameters = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { path: { type: "string", minLength: 1 } },
      additionalProperties: false,
    };
    const described = { ...tool(parameters), description: "Reads." };
    assert.deepEqual(encode({ tools: [described, { ...tool(null), name: "now" }] }).tools, [
      {
        functionDeclarations: [
          {
            name: "read",
            description: "Reads.",
            parametersJsonSchema: {
              type: "object",
              properties: { path: { type: "string" } },
              additionalProperties: false,
            },
          },
          { name: "now" },
        ],
      },
    ]);
  });

  it("gives no schema to a function without parameters", () => {
    for (const more of [{}, { properties: {} }, { properties: {}, additionalProperties: false }]) {
      const { tools } = encode({ tools: [tool({ type: "object", ...more })] });
      assert.deepEqual(tools, [{ functionDeclarations: [{ name: "read" }] }]);
    }
  });

  it("offers Google's own search and code, and allows mixing them if requested", () => {
    const tools = [tool(null), { type: "web_search" }, { type: "code_interpreter" }] as const;
    const body = encode({ tools });
    assert.deepEqual(body.tools?.slice(1), [{ googleSearch: {} }, { codeExecution: {} }]);
    assert.deepEqual(body.toolConfig, { includeServerSideToolInvocations: true });
    assert.equal(encode({ tools }, vertexGeminiWire).toolConfig, undefined);
    assert.equal(encode({ tools: tools.slice(1, 2) }).toolConfig, undefined);
  });

  const choices: readonly [choice: ToolChoice, config: object | undefined][] = [
    ["auto", undefined],
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    [
      { type: "function", name: "read" },
      { mode: "ANY", allowedFunctionNames: ["read"] },
    ],
    [
      { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "read" }] },
      { mode: "VALIDATED", allowedFunctionNames: ["read"] },
    ],
  ];
  for (const [toolChoice, config] of choices) {
    it(`lets the model choose: ${JSON.stringify(toolChoice)}`, () => {
      const body = encode({ tools: [tool(null)], tool_choice: toolChoice });
      assert.deepEqual(body.toolConfig?.functionCallingConfig, config);
      assert.equal(encode({ tool_choice: toolChoice }).toolConfig, undefined);
    });
  }

  it("requests structured output in the vendor's own field", () => {
    const schema = { type: "object", properties: { a: { const: "x" } } };
    const format = { type: "json_schema", name: "out", schema, strict: true } as const;
    assert.deepEqual(encode({ format }).generationConfig, {
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", properties: { a: { enum: ["x"] } } },
    });
    assert.deepEqual(encode({ format: { type: "json_object" } }).generationConfig, {
      responseMimeType: "application/json",
    });
  });

  const thinking: readonly [
    model: string,
    effort: ReasoningOptions["effort"],
    config: object | undefined,
  ][] = [
    ["gemini-2.0-flash", "high", undefined],
    ["gemma-3-27b-it", "high", undefined],
    ["gemini-2.5-flash", "none", { thinkingBudget: 0 }],
    ["gemini-2.5-flash", "low", { includeThoughts: true, thinkingBudget: 1024 }],
    ["gemini-2.5-flash-lite", "max", { includeThoughts: true, thinkingBudget: 24_576 }],
    ["gemini-2.5-pro", "none", { thinkingBudget: 128 }],
    ["gemini-2.5-pro", "max", { includeThoughts: true, thinkingBudget: 32_768 }],
    ["gemini-3-flash-preview", "none", { thinkingLevel: "MINIMAL" }],
    ["gemini-3-flash-preview", "minimal", { includeThoughts: true, thinkingLevel: "MINIMAL" }],
    ["gemini-3.1-pro-preview", "minimal", { includeThoughts: true, thinkingLevel: "LOW" }],
    ["gemini-3.8-flash", "none", { thinkingLevel: "LOW" }],
    ["gemini-4-argon", "medium", { includeThoughts: true, thinkingLevel: "MEDIUM" }],
    ["gemini-4-argon", "xhigh", { includeThoughts: true, thinkingLevel: "HIGH" }],
    ["models/gemini-3-pro", "low", { includeThoughts: true, thinkingLevel: "LOW" }],
    ["my-model", "none", undefined],
    ["my-model", "high", { includeThoughts: true, thinkingLevel: "HIGH" }],
    ["gemini-4-argon", undefined, undefined],
  ];
  for (const [model, effort, config] of thinking) {
    it(`sets the thinking of ${model} to ${effort}`, () => {
      const { generationConfig } = encode({ model, reasoning: { effort, summary: undefined } });
      assert.deepEqual(generationConfig?.thinkingConfig, config);
    });
  }

  it("asks to see reasoning if a summary is requested", () => {
    const reasoning = { effort: undefined, summary: "auto" } as const;
    const { generationConfig } = encode({ model: "gemini-4-argon", reasoning });
    assert.deepEqual(generationConfig?.thinkingConfig, { includeThoughts: true });
  });
});
