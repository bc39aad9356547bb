/** Stop reasons of the Messages API over models of several vendors: what a vendor says is told, and nothing else. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { ModelTarget } from "../../src/responses/models/model-target.ts";
import {
  type Reply,
  reply,
  script,
  startCohereUpstream,
  startMessagesUpstream,
} from "../../src/testing/index.ts";
import { assemble, framesIn } from "../responses/messages/read-stream.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

type Fields = Record<string, unknown>;

const chunk = (choice: object, usage?: object): string =>
  JSON.stringify({ id: "c", choices: [{ index: 0, ...choice }], ...(usage ? { usage } : {}) });

/** As vLLM reports a stop sequence. */
const chatStopped = reply.raw([
  chunk({ delta: { role: "assistant", content: "One two " } }),
  chunk({ delta: {}, finish_reason: "stop", stop_reason: "END" }),
  "[DONE]",
]);

const messagesStopped = (delta: object): Reply =>
  reply.raw(
    [
      { type: "message_start", message: { id: "msg_1", content: [], usage: { input_tokens: 5 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "One two " } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ].map((event) => JSON.stringify(event)),
  );

const cohereStopped = reply.raw(
  [
    { type: "message-start", id: "c", delta: { message: { role: "assistant" } } },
    {
      type: "content-start",
      index: 0,
      delta: { message: { content: { type: "text", text: "" } } },
    },
    { type: "content-delta", index: 0, delta: { message: { content: { text: "One two " } } } },
    { type: "content-end", index: 0 },
    { type: "message-end", delta: { finish_reason: "STOP_SEQUENCE", usage: {} } },
  ].map((event) => JSON.stringify(event)),
);

async function startOn(
  t: TestContext,
  vendor: "messages" | "cohere",
  answer: Reply,
): Promise<TestServer> {
  const start = vendor === "messages" ? startMessagesUpstream : startCohereUpstream;
  const upstream = await start({ engine: script(answer, answer, answer) });
  t.after(() => upstream.close());
  const model = vendor === "messages" ? "anthropic/claude-sonnet-4-5" : "cohere/command-a-03-2025";
  const provider = vendor === "messages" ? "anthropic" : "cohere";
  const usual: ModelTarget = { model, provider, url: upstream.url, api_key_name: "TEST_KEY" };
  return await startServer(t, script(), {
    settings: { models: { named: [], usual } },
    env: { TEST_KEY: "key" },
  });
}

/** Whole, streamed, and as a stored run, which must say the same. */
async function endsOf(server: TestServer, more: object): Promise<Fields[]> {
  const body = { max_tokens: 100, messages: [{ role: "user", content: "Count" }], ...more };
  const whole = await server.ask("POST", "/v1/messages", body);
  assert.equal(whole.status, 200, JSON.stringify(whole.body));
  const streamed = await server.ask("POST", "/v1/messages", { ...body, stream: true });
  const stored = await server.ask("POST", "/v1/messages", { ...body, store: true });
  const { end } = assemble(framesIn(String(streamed.body)));
  return [whole.body as Fields, end["delta"] as Fields, stored.body as Fields].map(
    ({ stop_reason, stop_sequence }) => ({ stop_reason, stop_sequence }),
  );
}

const three = (end: object): object[] => [end, end, end];

describe("the stop reason of a message", () => {
  const TWO = { stop_sequences: ["STOP", "END"] };
  const ONE = { stop_sequences: ["END"] };
  const AT_END = { stop_reason: "stop_sequence", stop_sequence: "END" };

  it("is the sequence that a chat server names", async (t) => {
    const server = await startServer(t, script(chatStopped, chatStopped, chatStopped));
    assert.deepEqual(await endsOf(server, TWO), three(AT_END));
  });

  it("is the sequence that Anthropic names", async (t) => {
    const stopped = messagesStopped({ stop_reason: "stop_sequence", stop_sequence: "END" });
    const server = await startOn(t, "messages", stopped);
    assert.deepEqual(await endsOf(server, TWO), three(AT_END));
  });

  it("names no sequence where the vendor does not say which of several it was", async (t) => {
    const server = await startOn(t, "cohere", cohereStopped);
    assert.deepEqual(
      await endsOf(server, TWO),
      three({ stop_reason: "stop_sequence", stop_sequence: null }),
    );
  });

  it("names the only sequence there was", async (t) => {
    const server = await startOn(t, "cohere", cohereStopped);
    assert.deepEqual(await endsOf(server, ONE), three(AT_END));
  });

  it("is a plain end where the vendor gives no other reason", async (t) => {
    const said = reply.text("One two ");
    const server = await startServer(t, script(said, said, said));
    assert.deepEqual(
      await endsOf(server, ONE),
      three({ stop_reason: "end_turn", stop_sequence: null }),
    );
  });

  it("says that the window is full, by the vendor's word or by the count", async (t) => {
    const full = three({ stop_reason: "model_context_window_exceeded", stop_sequence: null });
    const told = messagesStopped({ stop_reason: "model_context_window_exceeded" });
    assert.deepEqual(await endsOf(await startOn(t, "messages", told), {}), full);
    const cut = reply.length("One two ", { usage: { input: 127_990, output: 10 } });
    const plain = await startServer(t, script(cut, cut, cut));
    const usual = {
      model: "openai/gpt-4o",
      provider: "openai-chat",
      api_key_name: null,
      url: plain.upstream.url,
    };
    const counted = await startServer(t, script(), { settings: { models: { named: [], usual } } });
    assert.deepEqual(await endsOf(counted, {}), full);
  });

  it("is the limit of the answer where the window has room", async (t) => {
    const cut = reply.length("One two ", { usage: { input: 10, output: 10 } });
    const server = await startServer(t, script(cut, cut, cut));
    assert.deepEqual(
      await endsOf(server, {}),
      three({ stop_reason: "max_tokens", stop_sequence: null }),
    );
  });
});
