import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { MODEL_RETRY } from "../../../src/base/retry.ts";
import type { ModelTarget } from "../../../src/responses/models/model-target.ts";
import {
  createScriptedProvider,
  reply,
  respond,
  type Script,
  type ScriptEngine,
  script,
  startGeminiUpstream,
  startMessagesUpstream,
  type Upstream,
} from "../../../src/testing/index.ts";
import { startServer, type TestServer } from "../../server/server-fixture.ts";

const WEATHER = {
  name: "weather",
  description: "The weather of a place",
  parameters: {
    type: "object",
    properties: { place: { type: "string" } },
    required: ["place"],
    additionalProperties: false,
  },
} as const;

const ONCE = { ...MODEL_RETRY, attempts: 1 };

const CALL = reply.calls([{ name: "weather", arguments: { place: "Rome" }, call_id: "call_1" }]);

const RUNNABLE = zodFunction({
  name: "weather",
  parameters: z.object({ place: z.string() }),
  function: ({ place }) => `sunny in ${place}`,
});

function clientOf({ url }: TestServer): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0 });
}

function say(content: string): { role: "user"; content: string } {
  return { role: "user", content };
}

/** A field that the published API does not have, and most servers do. */
function thoughtOf(message: object | undefined): string {
  return (message as { reasoning_content?: string } | undefined)?.reasoning_content ?? "";
}

describe("chat completions with the official client", () => {
  it("answers plainly, stores nothing and names what it left out", async (t) => {
    const usage = { input: 5, output: 2 };
    const server = await startServer(t, script(reply.text("Hello.", { usage })));
    const answer = await clientOf(server).chat.completions.create({
      model: "m",
      messages: [say("Hi")],
      seed: 7,
      metadata: { who: "me" },
    });
    assert.equal(answer.object, "chat.completion");
    assert.match(answer.id, /^chatcmpl-/);
    assert.equal(answer.choices[0]?.message.content, "Hello.");
    assert.equal(answer.choices[0]?.finish_reason, "stop");
    assert.equal(answer.usage?.total_tokens, 7);
    const { metadata } = answer as unknown as { metadata: Record<string, string> };
    assert.deepEqual(metadata, { who: "me" });
    assert.match(server.upstream.requests[0]?.text ?? "", /"seed":7/);
    const id = answer.id.replace("chatcmpl-", "resp_");
    assert.equal((await server.ask("GET", `/v1/responses/${id}`)).status, 404);
  });

  it("streams chunks that the client joins, with usage at the end", async (t) => {
    const server = await startServer(t, script(reply.text("One two three.")));
    const stream = clientOf(server).chat.completions.stream({
      model: "m",
      messages: [say("Count")],
      stream_options: { include_usage: true },
    });
    let text = "";
    stream.on("content", (delta) => {
      text += delta;
    });
    const whole = await stream.finalChatCompletion();
    assert.equal(text, "One two three.");
    assert.equal(whole.choices[0]?.message.content, text);
    assert.ok((whole.usage?.total_tokens ?? 0) > 0);
  });

  it("writes frames without a name, and ends them", async (t) => {
    const server = await startServer(t, script(reply.text("Hi.")));
    const asked = { messages: [say("Hi")], stream: true };
    const { body } = await server.ask("POST", "/v1/chat/completions", asked);
    assert.doesNotMatch(String(body), /^event:/m);
    assert.match(String(body), /data: \[DONE\]\n\n$/);
  });

  it("runs the client's tools in turns, plain and streamed", async (t) => {
    for (const isStreamed of [false, true]) {
      const server = await startServer(t, script(CALL, reply.text("It is sunny in Rome.")));
      const asked = { model: "m", messages: [say("Weather in Rome?")], tools: [RUNNABLE] };
      const { completions } = clientOf(server).chat;
      const runner = isStreamed
        ? completions.runTools({ ...asked, stream: true })
        : completions.runTools(asked);
      assert.equal(await runner.finalContent(), "It is sunny in Rome.");
      const body = server.upstream.requests[1]?.body as { messages: object[] } | undefined;
      const result = { role: "tool", tool_call_id: "call_1", content: "sunny in Rome" };
      assert.deepEqual(body?.messages.at(-1), result);
    }
  });

  it("shows a model's reasoning", async (t) => {
    const thinks = reply.reasoning("Let me see.", reply.text("Yes."));
    const server = await startServer(t, script(thinks, thinks));
    const { completions } = clientOf(server).chat;
    const plain = await completions.create({ model: "m", messages: [say("Well?")] });
    assert.equal(thoughtOf(plain.choices[0]?.message), "Let me see.");
    const stream = await completions.create({
      model: "m",
      messages: [say("Well?")],
      stream: true,
    });
    let thought = "";
    for await (const { choices } of stream) thought += thoughtOf(choices[0]?.delta);
    assert.equal(thought, "Let me see.");
  });

  it("parses an answer that has a schema", async (t) => {
    const server = await startServer(t, script(reply.text('{"place":"Rome"}')));
    const answer = await clientOf(server).chat.completions.parse({
      model: "m",
      messages: [say("Where?")],
      response_format: zodResponseFormat(z.object({ place: z.string() }), "place"),
    });
    assert.deepEqual(answer.choices[0]?.message.parsed, { place: "Rome" });
  });

  it("returns as many choices as requested, plain and streamed", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hello.")),
    );
    const { completions } = clientOf(server).chat;
    const asked = { model: "m", messages: [say("Hi")], n: 3 };
    const plain = await completions.create(asked);
    assert.deepEqual(
      plain.choices.map(({ index, message }) => [index, message.content]),
      [0, 1, 2].map((index) => [index, "Hello."]),
    );
    const streamed = await completions.stream(asked).finalChatCompletion();
    assert.deepEqual(
      streamed.choices.map(({ message }) => message.content),
      ["Hello.", "Hello.", "Hello."],
    );
  });

  it("fails with the status of the failure, plain and streamed", async (t) => {
    const busyModel = respond(() => reply.status(429, "{}"));
    const server = await startServer(t, busyModel, { retry: ONCE });
    const { completions } = clientOf(server).chat;
    const wrong = completions.create({ model: "m", messages: [say("Hi")], n: 129 });
    await assert.rejects(wrong, { status: 400, param: "n", code: "invalid_request" });
    const busy = { status: 429, code: "rate_limit_exceeded" };
    await assert.rejects(completions.create({ model: "m", messages: [say("Hi")] }), busy);
    const streamed = completions.create({ model: "m", messages: [say("Hi")], stream: true });
    await assert.rejects(streamed, busy);
  });

  it("ends a stream that breaks with an error", async (t) => {
    let breakOff = (): void => {};
    const isRead = new Promise<void>((resolve) => {
      breakOff = resolve;
    });
    const engine: ScriptEngine = async function* (request, call) {
      const { stream } = createScriptedProvider(reply.failure("It broke.", { text: "So " }));
      try {
        yield* stream(request, call);
      } finally {
        await isRead;
      }
    };
    const server = await startServer(t, engine, { retry: ONCE });
    const stream = await clientOf(server).chat.completions.create({
      model: "m",
      messages: [say("Hi")],
      stream: true,
    });
    let text = "";
    await assert.rejects(async () => {
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? "";
        if (text !== "") breakOff();
      }
    }, /broke/);
    assert.equal(text, "So ");
  });
});

describe("chat completions with other clients", () => {
  it("serves the AI SDK's chat model: plain, streamed, with tools", async (t) => {
    const server = await startServer(
      t,
      script(reply.text("Hello."), reply.text("One two."), CALL, reply.text("Sunny.")),
    );
    const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "key" }).chat("m");
    assert.equal((await generateText({ model, prompt: "Hi", maxRetries: 0 })).text, "Hello.");
    assert.equal(await streamText({ model, prompt: "Count", maxRetries: 0 }).text, "One two.");
    const weather = tool({
      description: "The weather of a place",
      inputSchema: z.object({ place: z.string() }),
      execute: async ({ place }) => `sunny in ${place}`,
    });
    const { text, steps } = await generateText({
      model,
      prompt: "Weather?",
      tools: { weather },
      maxRetries: 0,
      stopWhen: stepCountIs(3),
    });
    assert.equal(text, "Sunny.");
    assert.equal(steps.length, 2);
  });

  it("serves LangChain's chat model: plain, streamed, with tools", async (t) => {
    const server = await startServer(
      t,
      script(reply.text("Hello."), reply.text("One two."), CALL, reply.text("Sunny.")),
    );
    const model = new ChatOpenAI({
      model: "m",
      apiKey: "key",
      maxRetries: 0,
      useResponsesApi: false,
      configuration: { baseURL: `${server.url}/v1` },
    });
    assert.equal((await model.invoke("Hi")).text, "Hello.");
    let text = "";
    for await (const chunk of await model.stream("Count")) text += chunk.text;
    assert.equal(text, "One two.");
    const weather = langchainTool(async ({ place }: { place: string }) => `sunny in ${place}`, {
      name: "weather",
      description: "The weather of a place",
      schema: z.object({ place: z.string() }),
    });
    const bound = model.bindTools([weather]);
    const question = new HumanMessage("Weather?");
    const asking = await bound.invoke([question]);
    assert.deepEqual(asking.tool_calls?.[0]?.args, { place: "Rome" });
    const result = new ToolMessage({ content: "sunny in Rome", tool_call_id: "call_1" });
    assert.equal((await bound.invoke([question, asking, result])).text, "Sunny.");
  });
});

interface Vendor {
  readonly name: string;
  readonly start: (engine: Script) => Promise<Upstream>;
  readonly target: (url: string) => ModelTarget;
}

const VENDORS: readonly Vendor[] = [
  {
    name: "messages",
    start: (engine) => startMessagesUpstream({ engine }),
    target: (url) => ({
      model: "anthropic/claude-sonnet-4-5",
      provider: "anthropic",
      url,
      api_key_name: "TEST_KEY",
    }),
  },
  {
    name: "gemini",
    start: (engine) => startGeminiUpstream({ engine }),
    target: (url) => ({
      model: "gemini/gemini-2.5-flash",
      provider: "gemini",
      url,
      api_key_name: "TEST_KEY",
    }),
  },
];

describe("chat completions on models with another API", () => {
  for (const { name, start, target } of VENDORS) {
    it(`answers, streams and calls tools on ${name}`, async (t) => {
      const upstream = await start(script(reply.text("Hello."), CALL, reply.text("Sunny.")));
      t.after(() => upstream.close());
      const server = await startServer(t, script(), {
        settings: { models: { named: [], usual: target(upstream.url) } },
        env: { TEST_KEY: "key" },
      });
      const { completions } = clientOf(server).chat;
      const model = target(upstream.url).model;
      const plain = await completions.create({ model, messages: [say("Hi")] });
      assert.equal(plain.choices[0]?.message.content, "Hello.");
      const tools = [{ type: "function" as const, function: WEATHER }];
      const stream = completions.stream({ model, messages: [say("Weather?")], tools });
      const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0] ?? {};
      assert.equal(finish_reason, "tool_calls");
      const call = message?.tool_calls?.[0];
      assert.ok(call?.type === "function");
      assert.deepEqual(JSON.parse(call.function.arguments), { place: "Rome" });
      const result = { role: "tool" as const, tool_call_id: call.id, content: "sunny" };
      const messages = [say("Weather?"), ...(message ? [message] : []), result];
      const last = await completions.create({ model, messages, tools });
      assert.equal(last.choices[0]?.message.content, "Sunny.");
    });
  }
});
