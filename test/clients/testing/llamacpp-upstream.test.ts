import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { startLlamacppUpstream } from "../../../src/testing/llamacpp-upstream.ts";
import { reply } from "../../../src/testing/reply.ts";
import { script } from "../../../src/testing/script.ts";
import { post } from "../../testing/post.ts";

const BODY = { messages: [{ role: "user", content: "Hi" }] };

describe("llama.cpp upstream", () => {
  it("answers 503 to everything while it loads", async () => {
    await using upstream = await startLlamacppUpstream({ loading: 2, engine: script() });
    const health = upstream.url.replace(/\/v1$/, "/health");
    const loading = await post(health, "", { method: "GET" });
    assert.equal(loading.status, 503);
    const error = { code: 503, message: "Loading model", type: "unavailable_error" };
    assert.deepEqual(JSON.parse(loading.text), { error });
    assert.equal((await post(`${upstream.url}/chat/completions`, BODY)).status, 503);
    const ready = await post(health, "", { method: "GET" });
    assert.deepEqual([ready.status, ready.text], [200, '{"status":"ok"}']);
  });

  it("needs no model's name, and has a list of one", async () => {
    await using upstream = await startLlamacppUpstream({ engine: script(reply.text("Hello")) });
    const client = new OpenAI({ baseURL: upstream.url, apiKey: "none", maxRetries: 0 });
    const stream = client.chat.completions.stream({
      model: "",
      messages: [{ role: "user", content: "Hi" }],
    });
    assert.equal(await stream.finalContent(), "Hello");
    const [model] = (await client.models.list()).data;
    assert.equal(model?.owned_by, "llamacpp");
  });

  it("returns a plain answer", async () => {
    await using upstream = await startLlamacppUpstream({ engine: script(reply.text("Hello")) });
    const { text } = await post(`${upstream.url}/chat/completions`, BODY);
    assert.equal(JSON.parse(text).choices[0].message.content, "Hello");
  });

  const rows: [name: string, body: object | string, message: RegExp][] = [
    ["no JSON", "nothing", /not a JSON object/],
    ["no messages", {}, /'messages' is required/],
    ["an unknown format", { ...BODY, response_format: { type: "xml" } }, /but got: xml/],
    [
      "a schema it cannot convert",
      { ...BODY, response_format: { type: "json_schema", json_schema: { schema: { not: {} } } } },
      /Unrecognized schema: \{"not":\{\}\}/,
    ],
    ["a grammar beside tools", { ...BODY, grammar: "root ::= x", tools: [{}] }, /with tools/],
    [
      "more than its context holds",
      { messages: [{ role: "user", content: "x".repeat(400) }] },
      /exceeds the available context size/,
    ],
  ];
  for (const [name, body, message] of rows) {
    it(`refuses ${name}`, async () => {
      await using upstream = await startLlamacppUpstream({ engine: script(), contextTokens: 50 });
      const answer = await post(`${upstream.url}/chat/completions`, body);
      assert.equal(answer.status, 400);
      assert.match(JSON.parse(answer.text).error.message, message);
    });
  }
});
