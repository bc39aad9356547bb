import assert from "node:assert/strict";
import { describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
import { reply, respond, script } from "../../../src/testing/index.ts";
import { startServer, type TestServer } from "../../server/server-fixture.ts";

const WEATHER = {
  name: "weather",
  description: "The weather of a place",
  input_schema: {
    type: "object" as const,
    properties: { place: { type: "string" } },
    required: ["place"],
  },
};

const CALL = reply.calls([{ name: "weather", arguments: { place: "Rome" }, call_id: "call_1" }]);

const ASKED = { model: "m", max_tokens: 1000 };

function clientOf({ url }: TestServer): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: "key", maxRetries: 0 });
}

function say(content: string): { role: "user"; content: string } {
  return { role: "user", content };
}

describe("messages with the official client", () => {
  it("answers plainly and counts the usage", async (t) => {
    const usage = { input: 5, output: 2 };
    const server = await startServer(t, script(reply.text("Hello.", { usage })));
    const message = await clientOf(server).messages.create({ ...ASKED, messages: [say("Hi")] });
    assert.match(message.id, /^msg_/);
    assert.deepEqual(
      message.content.map((block) => block.type === "text" && block.text),
      ["Hello."],
    );
    assert.equal(message.stop_reason, "end_turn");
    assert.equal(message.model, "m");
    assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens], [5, 2]);
  });

  it("streams events that the client joins", async (t) => {
    const server = await startServer(t, script(reply.text("One two three.")));
    const stream = clientOf(server).messages.stream({ ...ASKED, messages: [say("Count")] });
    let text = "";
    stream.on("text", (delta) => {
      text += delta;
    });
    const message = await stream.finalMessage();
    assert.equal(text, "One two three.");
    assert.equal(message.stop_reason, "end_turn");
    assert.ok(message.usage.output_tokens > 0);
  });

  it("sends calls to the client and accepts their results, plain and streamed", async (t) => {
    for (const isStreamed of [false, true]) {
      const server = await startServer(t, script(CALL, reply.text("Sunny.")));
      const { messages } = clientOf(server);
      const asked = { ...ASKED, tools: [WEATHER] };
      const question = say("Weather in Rome?");
      const first = isStreamed
        ? await messages.stream({ ...asked, messages: [question] }).finalMessage()
        : await messages.create({ ...asked, messages: [question] });
      assert.equal(first.stop_reason, "tool_use");
      const [call] = first.content.filter((block) => block.type === "tool_use");
      assert.deepEqual(call && [call.name, call.input], ["weather", { place: "Rome" }]);
      const result = { type: "tool_result" as const, tool_use_id: call?.id ?? "", content: "sun" };
      const last = await messages.create({
        ...asked,
        messages: [
          question,
          { role: "assistant", content: first.content },
          { role: "user", content: [result] },
        ],
      });
      assert.equal(last.content[0]?.type === "text" && last.content[0].text, "Sunny.");
      const sent = server.upstream.requests[1]?.body as { messages: object[] };
      assert.deepEqual(sent.messages.at(-1), {
        role: "tool",
        tool_call_id: "call_1",
        content: "sun",
      });
    }
  });

  it("serves the client's tool runner", async (t) => {
    const server = await startServer(t, script(CALL, reply.text("It is sunny in Rome.")));
    const weather = betaZodTool({
      name: "weather",
      description: "The weather of a place",
      inputSchema: z.object({ place: z.string() }),
      run: ({ place }) => `sunny in ${place}`,
    });
    const last = await clientOf(server).beta.messages.toolRunner({
      ...ASKED,
      messages: [say("Weather in Rome?")],
      tools: [weather],
    });
    assert.equal(last.content[0]?.type === "text" && last.content[0].text, "It is sunny in Rome.");
  });

  it("returns structured output that the client parses", async (t) => {
    const server = await startServer(t, script(reply.text('{"city":"Rome"}')));
    const format = zodOutputFormat(z.object({ city: z.string() }));
    const message = await clientOf(server).messages.parse({
      ...ASKED,
      messages: [say("Where?")],
      output_config: { format },
    });
    assert.deepEqual(message.parsed_output, { city: "Rome" });
    const sent = server.upstream.requests[0]?.body as { response_format?: { type: string } };
    assert.equal(sent.response_format?.type, "json_schema");
  });

  it("counts tokens without asking a model", async (t) => {
    const server = await startServer(t, script());
    const { messages } = clientOf(server);
    const short = await messages.countTokens({ model: "m", messages: [say("Hi")] });
    const long = await messages.countTokens({ model: "m", messages: [say("Hi ".repeat(999))] });
    assert.ok(short.input_tokens > 0 && long.input_tokens > short.input_tokens + 500);
    assert.equal(server.upstream.requests.length, 0);
  });

  it("continues a conversation that was compacted", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("They greeted each other.")),
    );
    const { messages } = clientOf(server).beta;
    const turns = [say("Hi"), { role: "assistant" as const, content: "Hello." }, say("Go on")];
    const compaction = { type: "summarize" as const };
    const short = await messages.stream({ ...ASKED, messages: turns, compaction }).finalMessage();
    assert.equal(short.stop_reason, "compaction");
    const [block] = short.content;
    assert.ok(block?.type === "compaction" && block.content === "They greeted each other.");
    const next = [{ role: "assistant" as const, content: short.content }, say("And?")];
    const { stop_reason } = await messages.create({ ...ASKED, messages: next });
    assert.equal(stop_reason, "end_turn");
  });

  it("reports that batches are not supported", async (t) => {
    const server = await startServer(t, script());
    const params = { ...ASKED, messages: [say("Hi")] };
    const asked = clientOf(server).messages.batches.create({
      requests: [{ custom_id: "one", params }],
    });
    await assert.rejects(asked, (thrown) => {
      assert.ok(thrown instanceof Anthropic.NotFoundError);
      assert.match(thrown.message, /batches.*not served here.*POST \/v1\/messages/);
      return true;
    });
  });
});
