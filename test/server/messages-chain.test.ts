/** Our own Messages wire in front of our own Messages endpoint, as servers: the second one changes nothing. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type Reply, reply, respond } from "../../src/testing/index.ts";
import { assemble, framesIn } from "../responses/messages/read-stream.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

type Fields = Record<string, unknown>;

interface Chain {
  /** Asks a chat model. */
  readonly near: TestServer;
  /** Asks `near`, which it takes for Anthropic's server. */
  readonly far: TestServer;
}

async function startChain(t: TestContext, said: Reply): Promise<Chain> {
  const near = await startServer(
    t,
    respond(() => said),
  );
  const usual = {
    model: "anthropic/claude-sonnet-4-5",
    provider: "anthropic",
    url: `${near.url}/v1`,
    api_key_name: "TEST_KEY",
  };
  const far = await startServer(
    t,
    respond(() => said),
    { settings: { models: { named: [], usual } }, env: { TEST_KEY: "key" } },
  );
  return { near, far };
}

const SCHEMA = { type: "object", properties: { place: { type: "string" } } };
const TOOL = { name: "weather", description: "The sky", input_schema: SCHEMA };
const CALL = reply.calls([{ name: "weather", arguments: { place: "Rome" }, call_id: "call_1" }]);
const ASKED = {
  model: "claude-sonnet-4-5",
  max_tokens: 2000,
  tools: [TOOL],
  thinking: { type: "enabled", budget_tokens: 1024 },
  messages: [{ role: "user", content: "What?" }],
};

/** Without what each server counts and names by itself. No two signatures are the same. */
function plainOf(message: unknown): unknown {
  const own = ["id", "usage", "model", "offshoot"];
  return JSON.parse(
    JSON.stringify(message, (name, value) => {
      if (name === "signature") return /^(offshoot-v\.)?offshoot-s\./.test(value);
      return own.includes(name) && name !== "" ? undefined : value;
    }),
  );
}

/** Without how it was asked to answer: our wire always reads a stream. */
function askedOf(body: unknown): unknown {
  const { stream: _, stream_options: __, ...asked } = body as Fields;
  return asked;
}

describe("a server in front of a server", () => {
  const ANSWERS: Readonly<Record<string, Reply>> = {
    words: reply.text("Sunny, with some wind."),
    "a call": CALL,
    "thoughts before a call": reply.reasoning("Rome is far.", CALL),
    "thoughts before words": reply.reasoning("Hm.", reply.text("Sunny.")),
    "an answer that was cut": reply.length("Sunny, with"),
    "a refusal": reply.refusal("I must not."),
  };
  for (const [name, said] of Object.entries(ANSWERS)) {
    it(`answers as that one does, whole and streamed: ${name}`, async (t) => {
      const { near, far } = await startChain(t, said);
      const [one, two] = await Promise.all(
        [near, far].map((server) => server.ask("POST", "/v1/messages", ASKED)),
      );
      assert.equal(two?.status, 200, JSON.stringify(two?.body));
      assert.deepEqual(plainOf(two?.body), plainOf(one?.body));
      const streams = await Promise.all(
        [near, far].map(async (server) => {
          const { body } = await server.ask("POST", "/v1/messages", { ...ASKED, stream: true });
          return assemble(framesIn(String(body)));
        }),
      );
      assert.deepEqual(plainOf(streams[1]?.content), plainOf(streams[0]?.content));
      assert.deepEqual(streams[1]?.end["delta"], streams[0]?.end["delta"]);
    });
  }

  it("asks the model what that one would ask it, in the second turn too", async (t) => {
    const { near, far } = await startChain(t, reply.reasoning("Rome is far.", CALL));
    for (const server of [near, far]) {
      const first = await server.ask("POST", "/v1/messages", ASKED);
      const { content } = first.body as { content: Fields[] };
      const call = content.find(({ type }) => type === "tool_use");
      const result = { type: "tool_result", tool_use_id: call?.["id"], content: "sun" };
      const messages = [
        ...ASKED.messages,
        { role: "assistant", content },
        { role: "user", content: [result] },
      ];
      const next = await server.ask("POST", "/v1/messages", { ...ASKED, messages });
      assert.equal(next.status, 200, JSON.stringify(next.body));
    }
    const [, directly, , throughBoth] = near.upstream.requests.map(({ body }) => askedOf(body));
    assert.deepEqual(throughBoth, directly);
  });
});
