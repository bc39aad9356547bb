/** `offshoot/ai-sdk` with the real `ai` package: an app in the same process answers, no port is opened. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  APICallError,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  Output,
  streamText,
  tool,
} from "ai";
import { z } from "zod";
import {
  createAiProvider,
  type OffshootLanguageModel,
} from "../../../src/frameworks/ai-sdk/index.ts";
import { type Reply, reply } from "../../../src/testing/index.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { openTestApp, type TestApp } from "../../server/embedded/test-app.ts";

const weather = tool({
  description: "How warm it is.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 18 }),
});

const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  parameters: z.object({}),
  readOnly: true,
  run: async () => "12:00",
});

const WITH_AGENT = {
  agents: [
    {
      name: "guide",
      description: "Guides.",
      instructions: "You guide.",
      tools: ["clock", "subagent"],
      budget: { turns: 9 },
      expose: ["model" as const],
    },
  ],
  settings: { server: { tools: ["clock", "subagent"] } },
};

const CALL = { name: "weather", arguments: { city: "Paris" } };

describe("the AI SDK's provider", () => {
  it("is a model of the framework by its types", () => {
    const toModel = (model: OffshootLanguageModel): LanguageModel => model;
    assert.ok(toModel);
  });

  it("generates text in steps with tools of the program", async (t) => {
    const { model, asked } = await openModel(t, [
      reply.reasoning("Ask first.", reply.calls([CALL])),
      reply.text("18 degrees.", { usage: { input: 40, cached: 10, output: 6 } }),
    ]);
    const { text, steps, finishReason, providerMetadata } = await generateText({
      model,
      tools: { weather },
      stopWhen: isStepCount(3),
      system: "Be short.",
      prompt: "How warm is Paris?",
      temperature: 0.5,
    });
    assert.deepEqual([text, finishReason, steps.length], ["18 degrees.", "stop", 2]);
    assert.deepEqual(
      steps[0]?.toolCalls.map(({ input }) => input),
      [{ city: "Paris" }],
    );
    assert.equal(steps[0]?.reasoningText, "Ask first.");
    const last = steps[1]?.usage;
    assert.deepEqual([last?.inputTokens, last?.outputTokens], [40, 6]);
    assert.equal(last?.inputTokenDetails.cacheReadTokens, 10);
    assert.match(String(providerMetadata?.["offshoot"]?.["responseId"]), /^resp_/);
    const types = asked[1]?.items.map(({ type }) => type);
    assert.deepEqual(types, [
      "message",
      "message",
      "reasoning",
      "function_call",
      "function_call_output",
    ]);
    assert.equal(asked[0]?.temperature, 0.5);
  });

  it("streams texts, reasoning and the input of tools", async (t) => {
    const { model } = await openModel(t, [
      reply.reasoning("Ask first.", reply.calls([CALL])),
      reply.text("Warm."),
    ]);
    const { fullStream } = streamText({
      model,
      tools: { weather },
      stopWhen: isStepCount(3),
      prompt: "?",
    });
    const seen = new Set<string>();
    let said = "";
    for await (const part of fullStream) {
      seen.add(part.type);
      if (part.type === "text-delta") said += part.text;
      assert.notEqual(part.type, "error");
    }
    assert.equal(said, "Warm.");
    for (const type of [
      "reasoning-start",
      "reasoning-end",
      "tool-input-delta",
      "tool-call",
      "tool-result",
      "text-end",
      "finish",
    ]) {
      assert.ok(seen.has(type), type);
    }
  });

  it("returns objects of a schema, and sends pictures and files", async (t) => {
    const { model, asked } = await openModel(t, [reply.text('{"city":"Paris"}')]);
    const schema = jsonSchema<{ city: string }>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    });
    const { output } = await generateText({
      model,
      output: Output.object({ schema }),
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Where?" },
            { type: "file", mediaType: "image/png", data: PIXEL },
          ],
        },
      ],
    });
    assert.deepEqual(output, { city: "Paris" });
    assert.match(JSON.stringify(asked[0]?.items), /input_image.*data:image\/png;base64/);
  });

  it("shows calls of the server's own tools as the provider's, and continues with them", async (t) => {
    const tools = [
      {
        type: "mcp",
        server_label: "offshoot",
        require_approval: "never",
        allowed_tools: ["clock"],
      },
    ];
    const own = { name: "offshoot__clock", arguments: {} };
    const { app, key, asked } = await openTestApp(
      t,
      [reply.calls([own]), reply.text("Noon."), reply.text("Yes.")],
      { tools: [clock], settings: { server: { tools: ["clock"] } } },
    );
    const model = createAiProvider(app, { key })("any", { tools });
    const first = await generateText({ model, prompt: "What time?" });
    assert.equal(first.text, "Noon.");
    assert.deepEqual(
      first.toolCalls.map(({ toolName, providerExecuted }) => [toolName, providerExecuted]).at(-1),
      ["clock", true],
    );
    const messages = [
      { role: "user" as const, content: "What time?" },
      ...first.response.messages,
      { role: "user" as const, content: "Sure?" },
    ];
    await generateText({ model, messages });
    assert.match(JSON.stringify(asked.at(-1)?.items), /12:00/);
  });

  it("has an agent of the server by its name, with its tools and a subagent, streamed and with tools of the program", async (t) => {
    const delegate = { name: "offshoot__subagent", arguments: { label: "a", task_prompt: "Look" } };
    const { app, key, asked } = await openTestApp(
      t,
      [
        reply.calls([{ name: "offshoot__clock", arguments: {} }, CALL]),
        reply.calls([delegate]),
        reply.text("Looked."),
        reply.text("Warm at noon."),
      ],
      { ...WITH_AGENT, tools: [clock] },
    );
    const model = createAiProvider(app, { key })("agent/guide");
    const { fullStream, text } = streamText({
      model,
      tools: { weather },
      stopWhen: isStepCount(3),
      system: "Be short.",
      prompt: "How is it?",
    });
    const made: string[] = [];
    for await (const part of fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "tool-result") made.push(part.toolName);
    }
    assert.equal(await text, "Warm at noon.");
    for (const name of ["clock", "weather", "subagent"]) assert.ok(made.includes(name), name);
    assert.equal(asked[0]?.instructions, "You guide.");
    assert.match(JSON.stringify(asked[0]?.items), /Be short\./);
  });

  it("tells of a failure in the middle of a stream once", async (t) => {
    const broken = reply.failure("The model is gone.", { text: "Par" });
    const { model } = await openModel(t, [broken], { store: false });
    const parts: string[] = [];
    const { fullStream } = streamText({ model, prompt: "Hi", maxRetries: 0, onError() {} });
    for await (const { type } of fullStream) parts.push(type);
    assert.deepEqual(
      parts.filter((type) => type === "error" || type === "finish"),
      ["error", "finish"],
    );
  });

  it("gives the framework's own error for what the server refuses", async (t) => {
    const { app } = await openTestApp(t, [reply.text("never")]);
    const model = createAiProvider(app, { key: "wrong" })("any");
    await assert.rejects(generateText({ model, prompt: "Hi", maxRetries: 0 }), (thrown) => {
      assert.ok(APICallError.isInstance(thrown));
      assert.deepEqual([thrown.statusCode, thrown.isRetryable], [401, false]);
      return true;
    });
  });

  it("ends the run when the program aborts", async (t) => {
    const { model, asked } = await openModel(t, [reply.silence("I am")], { store: false });
    const stop = new AbortController();
    const { fullStream } = streamText({ model, prompt: "?", abortSignal: stop.signal });
    const types: string[] = [];
    for await (const part of fullStream) {
      types.push(part.type);
      if (part.type === "text-delta") stop.abort();
    }
    assert.equal(types.at(-1), "abort");
    assert.equal(asked.length, 1);
  });
});

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

interface OpenedModel {
  readonly model: OffshootLanguageModel;
  readonly asked: TestApp["asked"];
}

async function openModel(
  t: Parameters<typeof openTestApp>[0],
  replies: readonly Reply[],
  fields = {},
): Promise<OpenedModel> {
  const { app, key, asked } = await openTestApp(t, replies);
  return { model: createAiProvider(app, { key })("any", fields), asked };
}
