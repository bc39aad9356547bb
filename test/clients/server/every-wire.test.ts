/** The official clients of both APIs over every wire: each of their calls is made once on each. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import OpenAI from "openai";
import { z } from "zod";
import { type Reply, reply, respond, script } from "../../../src/testing/index.ts";
import {
  type Engine,
  type ProviderServer,
  SERVED_NAMES,
  startProviderServer,
} from "../../conformance/provider-servers.ts";

type Name = (typeof SERVED_NAMES)[number];

const WIRES = SERVED_NAMES.filter((name) => name !== "embedded");
const CALL = reply.calls([{ name: "weather", arguments: { place: "Rome" }, call_id: "call_1" }]);
const ASKED = { model: "", max_tokens: 2000 };
const TOOL = {
  name: "weather",
  description: "The weather of a place",
  input_schema: {
    type: "object" as const,
    properties: { place: { type: "string" } },
    required: ["place"],
  },
};

const start = (t: TestContext, name: Name, ...replies: Reply[]): Promise<ProviderServer> =>
  startProviderServer(t, name, script(...replies));

function anthropicOf({ server }: ProviderServer): Anthropic {
  return new Anthropic({ baseURL: server.url, apiKey: "key", maxRetries: 0 });
}

function openaiOf({ server }: ProviderServer): OpenAI {
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "key", maxRetries: 0 });
}

const say = (content: string): { role: "user"; content: string } => ({ role: "user", content });

function textOf({ content }: Pick<Anthropic.Message, "content">): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

for (const name of WIRES) {
  describe(`@anthropic-ai/sdk over ${name}`, () => {
    it("creates and streams the same message", async (t) => {
      const said = reply.text("One two three.", { usage: { input: 5, output: 3 } });
      const served = await start(t, name, said, said);
      const { messages } = anthropicOf(served);
      const asked = { ...ASKED, messages: [say("Count")] };
      const whole = await messages.create(asked);
      const streamed = await messages.stream(asked).finalMessage();
      for (const message of [whole, streamed]) {
        assert.equal(textOf(message), "One two three.");
        assert.equal(message.stop_reason, "end_turn");
        assert.equal(message.usage.output_tokens, 3);
      }
    });

    it("calls tools, whole and streamed, and sends their results back", async (t) => {
      const served = await start(t, name, CALL, reply.text("Sunny."), CALL, reply.text("Sunny."));
      const { messages } = anthropicOf(served);
      const asked = { ...ASKED, tools: [TOOL] };
      const question = say("Weather in Rome?");
      for (const isStreamed of [false, true]) {
        const first = isStreamed
          ? await messages.stream({ ...asked, messages: [question] }).finalMessage()
          : await messages.create({ ...asked, messages: [question] });
        assert.equal(first.stop_reason, "tool_use");
        const call = first.content.find((block) => block.type === "tool_use");
        assert.deepEqual(call?.input, { place: "Rome" });
        const content = [
          { type: "tool_result" as const, tool_use_id: call?.id ?? "", content: "sun" },
        ];
        const turns = [question, { role: "assistant" as const, content: first.content }];
        const last = await messages.create({
          ...asked,
          messages: [...turns, { role: "user" as const, content }],
        });
        assert.equal(textOf(last), "Sunny.");
      }
    });

    it("runs tools with the client's tool runner", async (t) => {
      const served = await start(t, name, CALL, reply.text("It is sunny."));
      const weather = betaZodTool({
        name: "weather",
        description: "The weather of a place",
        inputSchema: z.object({ place: z.string() }),
        run: ({ place }) => `sunny in ${place}`,
      });
      const last = await anthropicOf(served).beta.messages.toolRunner({
        ...ASKED,
        messages: [say("Weather in Rome?")],
        tools: [weather],
      });
      assert.equal(last.content[0]?.type === "text" && last.content[0].text, "It is sunny.");
      assert.match(served.upstream?.requests.at(-1)?.text ?? "", /sunny in Rome/);
    });

    it("returns structured output that the client parses", async (t) => {
      // A wire without such a mode has a call of a tool in its place.
      const engine: Engine = respond(({ tools }) => {
        const [tool] = tools.filter((one) => one.type === "function");
        const json = { city: "Rome" };
        return tool?.type === "function"
          ? reply.calls([{ name: tool.name, arguments: json }])
          : reply.text(JSON.stringify(json));
      });
      const served = await startProviderServer(t, name, engine);
      const format = zodOutputFormat(z.object({ city: z.string() }));
      const message = await anthropicOf(served).messages.parse({
        ...ASKED,
        messages: [say("Where?")],
        output_config: { format },
      });
      assert.deepEqual(message.parsed_output, { city: "Rome" });
    });

    it("counts tokens and reports that batches are not supported", async (t) => {
      const served = await start(t, name);
      const { messages } = anthropicOf(served);
      const counted = await messages.countTokens({ model: "", messages: [say("Hi there")] });
      assert.ok(counted.input_tokens > 0);
      assert.equal(served.upstream?.requests.length, 0);
      const params = { ...ASKED, messages: [say("Hi")] };
      await assert.rejects(messages.batches.create({ requests: [{ custom_id: "a", params }] }), {
        status: 404,
      });
    });

    it("reports what a vendor refuses in the API's own form", async (t) => {
      const served = await start(
        t,
        name,
        reply.status(400, { error: { message: "No such thing." } }),
      );
      const asked = anthropicOf(served).messages.create({ ...ASKED, messages: [say("Hi")] });
      await assert.rejects(asked, (thrown) => {
        assert.ok(thrown instanceof Anthropic.BadRequestError, String(thrown));
        assert.equal(thrown.type, "invalid_request_error");
        return true;
      });
    });
  });

  describe(`openai over ${name}`, () => {
    it("returns as many choices as requested, whole and streamed, and counts them all", async (t) => {
      let count = 0;
      const engine: Engine = respond(() =>
        reply.text(`Choice ${count++ % 3}.`, { usage: { input: 5, output: 2 } }),
      );
      const served = await startProviderServer(t, name, engine);
      const { completions } = openaiOf(served).chat;
      const asked = { model: "", messages: [say("Hi")], n: 3 };
      const plain = await completions.create(asked);
      const texts = ["Choice 0.", "Choice 1.", "Choice 2."];
      assert.deepEqual(plain.choices.map(({ message }) => message.content).sort(), texts);
      assert.deepEqual(
        plain.choices.map(({ index }) => index),
        [0, 1, 2],
      );
      const prompt = plain.usage?.prompt_tokens;
      const completion = plain.usage?.completion_tokens;
      assert.deepEqual([prompt, completion], [15, 6]);
      const stream = completions.stream({ ...asked, stream_options: { include_usage: true } });
      const streamed = await stream.finalChatCompletion();
      assert.deepEqual(streamed.choices.map(({ message }) => message.content).sort(), texts);
      assert.equal(streamed.usage?.completion_tokens, 6);
    });

    it("sends reasoning under both names, whole and streamed, and accepts either", async (t) => {
      const thinks = reply.reasoning("Let me see.", reply.text("Yes."));
      const served = await start(t, name, thinks, thinks, reply.text("So."), reply.text("So."));
      const { completions } = openaiOf(served).chat;
      const asked = { model: "", messages: [say("Well?")], reasoning_effort: "high" as const };
      const plain = await completions.create(asked);
      assert.deepEqual(thoughtsOf(plain.choices[0]?.message), ["Let me see.", "Let me see."]);
      const told = ["", ""];
      for await (const { choices } of await completions.create({ ...asked, stream: true })) {
        const [one, two] = thoughtsOf(choices[0]?.delta);
        told[0] += one;
        told[1] += two;
      }
      assert.deepEqual(told, ["Let me see.", "Let me see."]);
      for (const field of ["reasoning", "reasoning_content"]) {
        const before = { role: "assistant" as const, content: "Yes.", [field]: "Let me see." };
        const messages = [say("Well?"), before, say("And?")];
        const next = await completions.create({ model: "", messages });
        assert.equal(next.choices[0]?.message.content, "So.");
      }
    });
  });
}

function thoughtsOf(said: object | undefined): [string, string] {
  const { reasoning, reasoning_content } = (said ?? {}) as Record<string, string | undefined>;
  return [reasoning ?? "", reasoning_content ?? ""];
}
