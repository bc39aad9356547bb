/** The `openai` package against the built server: answers, streams, tools, structured output, state. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import type { ResponseInputItem, ResponseStreamEvent } from "openai/resources/responses/responses";
import { z } from "zod";
import { reply, script } from "../../../src/testing/index.ts";
import { slowModel, startSlowUpstream } from "../../e2e/served.ts";
import { until } from "../../patience.ts";
import { type ClientBench, KEY, serveEmbedded, serveScript, TIMEOUT } from "./client-fixture.ts";

const model = "scripted";

describe("the openai package", () => {
  it("asks the embedded model for a plain answer and for a stream", TIMEOUT, async () => {
    await using bench = await serveEmbedded();
    const client = openClient(bench);
    const input = "Say hello.";
    const plain = await client.responses.create({ model: "embedded/offline", input });
    assert.equal(plain.status, "completed");
    assert.ok(plain.output_text.length > 0);
    assert.ok((plain.usage?.total_tokens ?? 0) > 0);
    const events = await collect(
      await client.responses.create({ model: "embedded/offline", input, stream: true }),
    );
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    assert.equal(textOf(events), plain.output_text);
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, at) => at),
    );
  });

  it("builds a response from its stream, piece by piece", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(reply.reasoning("Two words.", reply.text("Hello there, you."))),
    );
    const snapshots: string[] = [];
    const stream = openClient(bench)
      .responses.stream({ model, input: "Greet", reasoning: { summary: "auto" } })
      .on("response.output_text.delta", ({ snapshot }) => snapshots.push(snapshot));
    const final = await stream.finalResponse();
    assert.equal(final.output_text, "Hello there, you.");
    assert.equal(snapshots.at(-1), "Hello there, you.");
    assert.ok(snapshots.length > 1);
    assert.deepEqual(
      final.output.map(({ type }) => type),
      ["reasoning", "message"],
    );
  });

  it("parses an answer that fits a schema", TIMEOUT, async () => {
    const Event = z.object({ name: z.string(), people: z.array(z.string()) });
    const said = { name: "Tea", people: ["Ada", "Grace"] };
    await using bench = await serveScript(
      script(reply.text(JSON.stringify(said)), reply.text(JSON.stringify(said))),
    );
    const client = openClient(bench);
    const text = { format: zodTextFormat(Event, "event") };
    const parsed = await client.responses.parse({ model, input: "Which event?", text });
    assert.deepEqual(parsed.output_parsed, said);
    const streamed = client.responses.stream({ model, input: "Which event?", text });
    assert.deepEqual((await streamed.finalResponse()).output_parsed, said);
    const format = bench.asked[0]?.["response_format"] as { json_schema: { name: string } };
    assert.equal(format.json_schema.name, "event");
  });

  it("makes the calls of functions, and sends the results back", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(
        reply.calls([
          { name: "weather", arguments: { city: "Paris" } },
          { name: "weather", arguments: { city: "Oslo" } },
        ]),
        reply.text("18 and 4 degrees."),
      ),
    );
    const client = openClient(bench);
    const tools = [zodResponsesFunction({ name: "weather", parameters: City })];
    const asked = await client.responses.parse({ model, input: "How warm is it?", tools });
    const results = asked.output.flatMap((item): ResponseInputItem[] => {
      if (item.type !== "function_call") return [];
      const { city } = City.parse(item.parsed_arguments);
      const output = city === "Paris" ? "18" : "4";
      return [{ type: "function_call_output", call_id: item.call_id, output }];
    });
    assert.equal(results.length, 2);
    const answer = await client.responses.create({
      model,
      tools,
      input: results,
      previous_response_id: asked.id,
    });
    assert.equal(answer.output_text, "18 and 4 degrees.");
    const told = bench.asked[1]?.messages.slice(-3).map(({ role, content }) => [role, content]);
    assert.deepEqual(told, [
      ["assistant", null],
      ["tool", "18"],
      ["tool", "4"],
    ]);
  });

  it("gets the calls of free-text tools as free text", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(
        reply.calls([{ name: "sql", arguments: { input: "SELECT 1;\n-- “one”" } }]),
        reply.text("One row."),
      ),
    );
    const client = openClient(bench);
    const tools = [{ type: "custom" as const, name: "sql", description: "Runs SQL." }];
    const events = await collect(
      await client.responses.create({ model, input: "Count", tools, stream: true }),
    );
    const deltas = events.map((event) =>
      event.type === "response.custom_tool_call_input.delta" ? event.delta : "",
    );
    assert.equal(deltas.join(""), "SELECT 1;\n-- “one”");
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    const [call] = last.response.output;
    assert.ok(call?.type === "custom_tool_call");
    assert.equal(call.input, "SELECT 1;\n-- “one”");
    const answer = await client.responses.create({
      model,
      tools,
      previous_response_id: last.response.id,
      input: [{ type: "custom_tool_call_output", call_id: call.call_id, output: "1" }],
    });
    assert.equal(answer.output_text, "One row.");
    assert.equal(bench.asked[1]?.messages.at(-1)?.content, "1");
  });

  it("continues a stream that broke off, from where it was", TIMEOUT, async () => {
    await using upstream = await startSlowUpstream();
    await using bench = await serveEmbedded({ args: slowModel(upstream) });
    const client = openClient(bench);
    const broken = await client.responses.create({ model, input: "Count", stream: true });
    const seen: ResponseStreamEvent[] = [];
    for await (const event of broken) {
      seen.push(event);
      // Leaving the loop closes the connection.
      if (event.type === "response.output_text.delta") break;
    }
    const [first] = seen;
    assert.ok(first?.type === "response.created");
    upstream.say(" two");
    upstream.finish();
    const after = seen.at(-1)?.sequence_number ?? -1;
    const rest = await collect(
      await client.responses.retrieve(first.response.id, { stream: true, starting_after: after }),
    );
    assert.equal(rest[0]?.sequence_number, after + 1);
    assert.equal(textOf([...seen, ...rest]), "One two");
    const whole = await client.responses.retrieve(first.response.id);
    assert.equal(whole.output_text, "One two");
    const again = await client.responses
      .stream({ response_id: first.response.id, starting_after: after })
      .finalResponse();
    assert.equal(again.output_text, "One two");
    assert.equal(upstream.requests, 1);
  });

  it("polls and cancels a background response", TIMEOUT, async () => {
    await using upstream = await startSlowUpstream();
    await using bench = await serveEmbedded({ args: slowModel(upstream) });
    const client = openClient(bench);
    const one = await client.responses.create({ model, input: "One", background: true });
    const two = await client.responses.create({ model, input: "Two", background: true });
    assert.ok(one.status === "queued" || one.status === "in_progress");
    await until(async () => (upstream.open === 2 ? true : undefined), "both are asked");
    const cancelled = await client.responses.cancel(two.id);
    assert.equal(cancelled.status, "cancelled");
    upstream.finish();
    const done = await until(async () => {
      const now = await client.responses.retrieve(one.id);
      return now.status === "completed" ? now : undefined;
    }, "the first has ended");
    assert.equal(done.output_text, "One");
    assert.equal(done.background, true);
    assert.equal((await client.responses.retrieve(two.id)).status, "cancelled");
  });

  it("compacts a conversation, and continues with what is left of it", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(reply.text("They spoke of the colour blue."), reply.text("Blue.")),
    );
    const client = openClient(bench);
    const input: ResponseInputItem[] = [
      { role: "user", content: "My favourite colour is blue." },
      { role: "assistant", content: "I shall remember it." },
      { role: "user", content: "Tell me about it." },
    ];
    const compacted = await client.responses.compact({ model, input });
    assert.equal(compacted.object, "response.compaction");
    assert.ok(compacted.output.some(({ type }) => type === "compaction"));
    assert.ok(compacted.usage.total_tokens > 0);
    const left = compacted.output as ResponseInputItem[];
    const answer = await client.responses.create({
      model,
      store: false,
      input: [...left, { role: "user", content: "Which colour?" }],
    });
    assert.equal(answer.output_text, "Blue.");
    assert.match(JSON.stringify(bench.asked[1]?.messages), /They spoke of the colour blue\./);
  });

  it("deletes a response, which is then gone", TIMEOUT, async () => {
    await using bench = await serveScript(script(reply.text("Hello.")));
    const client = openClient(bench);
    const { id } = await client.responses.create({ model, input: "Hi" });
    await client.responses.delete(id);
    await assert.rejects(client.responses.retrieve(id), OpenAI.NotFoundError);
    await assert.rejects(client.responses.delete(id), OpenAI.NotFoundError);
  });

  it("lists the input items of a response, page after page", TIMEOUT, async () => {
    await using bench = await serveScript(script(reply.text("Fine.")));
    const client = openClient(bench);
    const words = ["one", "two", "three", "four", "five"];
    const input = words.map((content) => ({ role: "user" as const, content }));
    const { id } = await client.responses.create({ model, input });
    const listed: string[] = [];
    const pages = client.responses.inputItems.list(id, { limit: 2, order: "asc" });
    for await (const item of pages) {
      assert.ok(item.type === "message");
      const [part] = item.content;
      listed.push(part?.type === "input_text" ? part.text : "");
    }
    assert.deepEqual(listed, words);
  });

  it("counts the tokens of an input", TIMEOUT, async () => {
    await using bench = await serveEmbedded();
    const client = openClient(bench);
    const few = await client.responses.inputTokens.count({ input: "Hi" });
    const many = await client.responses.inputTokens.count({ input: "Hi ".repeat(200) });
    assert.equal(few.object, "response.input_tokens");
    assert.ok(few.input_tokens > 0);
    assert.ok(many.input_tokens > few.input_tokens + 100);
  });
});

const City = z.object({ city: z.string() });

function openClient({ baseURL }: ClientBench, apiKey = KEY): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 });
}

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

function textOf(events: readonly ResponseStreamEvent[]): string {
  return events
    .map((event) => (event.type === "response.output_text.delta" ? event.delta : ""))
    .join("");
}
