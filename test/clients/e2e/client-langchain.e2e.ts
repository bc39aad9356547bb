/** The `@langchain/openai` package against the built server, over the Responses API. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { reply, script } from "../../../src/testing/index.ts";
import { type ClientBench, KEY, serveEmbedded, serveScript, TIMEOUT } from "./client-fixture.ts";

const weather = tool(async ({ city }) => `${city}: 18 degrees`, {
  name: "weather",
  description: "How warm it is.",
  schema: z.object({ city: z.string() }),
});

describe("the langchain package", () => {
  it("the langchain package gets an answer of a model", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(reply.text("Hello.", { usage: { input: 12, output: 3 } })),
    );
    const answer = await openModel(bench).invoke([
      new SystemMessage("Be short."),
      new HumanMessage("Hi"),
    ]);
    assert.equal(answer.text, "Hello.");
    const usage = answer.usage_metadata as UsageMetadata | undefined;
    assert.deepEqual([usage?.input_tokens, usage?.output_tokens], [12, 3]);
    assert.match(String(answer.response_metadata["id"]), /^resp_/);
    assert.deepEqual(
      bench.asked[0]?.messages.map(({ role }) => role),
      ["system", "user"],
    );
  });

  it("streams an answer piece by piece", TIMEOUT, async () => {
    await using bench = await serveScript(script(reply.text("One, two and three.")));
    const pieces: string[] = [];
    for await (const chunk of await openModel(bench).stream("Count.")) pieces.push(chunk.text);
    assert.ok(pieces.filter((piece) => piece !== "").length > 1);
    assert.equal(pieces.join(""), "One, two and three.");
  });

  it("speaks with the embedded model", TIMEOUT, async () => {
    await using bench = await serveEmbedded();
    const answer = await openModel(bench, "embedded/offline").invoke("Say hello.");
    assert.ok(answer.text.length > 0);
  });

  it("calls tools that are bound to it, plain and streamed", TIMEOUT, async () => {
    const calls = [{ name: "weather", arguments: { city: "Paris" } }];
    await using bench = await serveScript(
      script(reply.calls(calls), reply.text("18 degrees."), reply.calls(calls)),
    );
    const model = openModel(bench).bindTools([weather]);
    const question = new HumanMessage("How warm is Paris?");
    const asked = await model.invoke([question]);
    const [made] = asked.tool_calls ?? [];
    assert.deepEqual([made?.name, made?.args], ["weather", { city: "Paris" }]);
    const result = await weather.invoke(made ?? assert.fail());
    assert.ok(result instanceof ToolMessage);
    const answer = await model.invoke([question, asked, result]);
    assert.equal(answer.text, "18 degrees.");
    assert.deepEqual(
      bench.asked[1]?.messages.map(({ role }) => role),
      ["user", "assistant", "tool"],
    );
    assert.equal(bench.asked[1]?.messages.at(-1)?.content, "Paris: 18 degrees");

    let streamed = new AIMessageChunk("");
    for await (const chunk of await model.stream([question])) streamed = streamed.concat(chunk);
    assert.deepEqual(streamed.tool_calls?.[0]?.args, { city: "Paris" });
  });

  it("answers with an object of a schema", TIMEOUT, async () => {
    const said = { name: "Tea", people: ["Ada"] };
    await using bench = await serveScript(script(reply.text(JSON.stringify(said))));
    const schema = z.object({ name: z.string(), people: z.array(z.string()) });
    const model = openModel(bench).withStructuredOutput(schema, { name: "event" });
    assert.deepEqual(await model.invoke("Which event?"), said);
    assert.match(JSON.stringify(bench.asked[0]?.["response_format"]), /"name":"event"/);
  });

  it("continues a stored response", TIMEOUT, async () => {
    await using bench = await serveScript(script(reply.text("Noted."), reply.text("Blue.")));
    const model = openModel(bench);
    const first = await model.invoke("My colour is blue.");
    const previous_response_id = String(first.response_metadata["id"]);
    const second = await model.invoke("Which?", { previous_response_id });
    assert.equal(second.text, "Blue.");
    assert.equal(bench.asked[1]?.messages.length, 3);
  });

  it("recognizes a wrong key by the status", TIMEOUT, async () => {
    await using bench = await serveScript(script());
    const refused = openModel(bench, "scripted", "wrong").invoke("Hi");
    await assert.rejects(refused, (thrown: { status?: number }) => {
      assert.equal(thrown.status, 401);
      return true;
    });
  });
});

function openModel({ baseURL }: ClientBench, model = "scripted", apiKey = KEY): ChatOpenAI {
  const configuration = { baseURL };
  return new ChatOpenAI({ model, apiKey, configuration, useResponsesApi: true, maxRetries: 0 });
}
