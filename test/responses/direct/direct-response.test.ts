import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import { type Reply, reply, script } from "../../../src/testing/index.ts";
import { startServer, type TestServer } from "../../server/server-fixture.ts";

const chunk = (delta: object, finish_reason: string | null = null): string =>
  JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason }] });

const ANSWERS: Readonly<Record<string, Reply>> = {
  text: reply.text("Hello there."),
  "text of no words": reply.text(" "),
  calls: reply.calls([
    { name: "look", arguments: { at: "it" }, call_id: "call_1" },
    { name: "look", arguments: { at: "that" }, call_id: "call_2" },
  ]),
  "calls after text": reply.calls([{ name: "look", arguments: { at: "it" }, call_id: "call_1" }], {
    text: "I look.",
  }),
  thoughts: reply.reasoning("Hm.", reply.text("So.")),
  "a refusal": reply.refusal("No."),
  "text that was cut": reply.length("Once upon a"),
  "a stream where one piece was asked for": reply.raw([
    chunk({ role: "assistant", content: "Hel" }),
    chunk({ content: "lo." }),
    chunk({}, "stop"),
    "[DONE]",
  ]),
  "a stream that breaks off in the middle": reply.raw([
    chunk({ role: "assistant", content: "Hel" }),
    JSON.stringify({ error: { message: "The server is overloaded.", code: 503 } }),
  ]),
  "a stream that has counted before it breaks off": reply.raw([
    chunk({ role: "assistant", content: "Hel" }),
    JSON.stringify({ id: "c", choices: [], usage: { prompt_tokens: 77, completion_tokens: 88 } }),
    JSON.stringify({ error: { message: "The server is overloaded.", code: 503 } }),
  ]),
};

const REQUESTS: Readonly<Record<string, object>> = {
  "a plain request": { input: "Hi" },
  "one with much to repeat": {
    input: [{ role: "user", content: "Hi" }],
    instructions: "Be short.",
    tools: [{ type: "function", name: "look", parameters: { type: "object", properties: {} } }],
    metadata: { a: "b" },
    temperature: 0.5,
    reasoning: { effort: "low", summary: "auto" },
    service_tier: "flex",
    user: "me",
    text: { format: { type: "text" }, verbosity: "low" },
    a_word_of_nobody: true,
  },
  "one that asks to see more": { input: "Hi", include: ["reasoning.encrypted_content"] },
};

/** Without what is different for every response. */
function toShape(response: EmittedResponse): object {
  const output = response.output.map((item) => {
    const isSealed = item.type === "reasoning" && Boolean(item.encrypted_content);
    return { ...item, id: "id", ...(isSealed ? { encrypted_content: "seal" } : {}) };
  });
  const completed_at = response.completed_at === null ? null : 0;
  return { ...response, id: "id", created_at: 0, completed_at, store: false, output };
}

async function lastOf(server: TestServer, body: object): Promise<EmittedResponse> {
  const last = (await server.stream(body)).at(-1);
  assert.ok(last && "response" in last);
  return last.response;
}

describe("a response that needs only the model", () => {
  for (const [answered, answer] of Object.entries(ANSWERS)) {
    for (const [asked, body] of Object.entries(REQUESTS)) {
      it(`shows ${answered} to ${asked} as a stored one does, plain and streamed`, async (t) => {
        const server = await startServer(t, script(answer, answer, answer, answer));
        const stored = toShape(await server.create(body));
        assert.deepEqual(toShape(await server.create({ ...body, store: false })), stored);
        assert.deepEqual(toShape(await lastOf(server, { ...body, store: false })), stored);
        assert.deepEqual(toShape(await lastOf(server, { ...body, store: true })), stored);
      });
    }
  }

  it("is refused as a stored one is, when the model's server refuses it", async (t) => {
    const refused = reply.status(400, { error: { message: "That is wrong.", code: "wrong" } });
    const server = await startServer(t, script(refused, refused, refused));
    const ask = (body: object) => server.ask("POST", "/v1/responses", { input: "Hi", ...body });
    const stored = await ask({});
    assert.equal(stored.status, 400);
    assert.deepEqual(await ask({ store: false }), stored);
    assert.deepEqual(await ask({ store: false, stream: true }), stored);
  });
});
