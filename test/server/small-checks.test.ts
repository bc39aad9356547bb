/** Small things that the API refuses, over HTTP. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

const HI = { input: "Hi" };
const messages = [{ role: "user", content: "Hi" }];

/** Path, body, status, and the field at fault. */
const REFUSED = [
  ["POST", "/v1/responses", { ...HI, max_output_tokens: 15 }, 400, "max_output_tokens"],
  ["POST", "/v1/responses", { ...HI, conversation: "nothing" }, 400, "conversation"],
  ["POST", "/v1/responses", { ...HI, conversation: { id: "x" } }, 400, "conversation"],
  ["POST", "/v1/responses", { ...HI, conversation: "conv_none" }, 404, "conversation"],
  ["POST", "/v1/responses/compact", HI, 400, "model"],
  ["POST", "/v1/responses/compact", { ...HI, model: null }, 400, "model"],
  ["GET", "/v1/conversations/nothing", undefined, 400, "conversation_id"],
  ["GET", "/v1/conversations/nothing/items", undefined, 400, "conversation_id"],
  ["GET", "/v1/conversations/conv_none", undefined, 404, "conversation_id"],
  [
    ...(["POST", "/v1/responses"] as const),
    { ...HI, tools: [{ type: "mcp", server_label: "mail", connector_id: "connector_nobody" }] },
    ...([400, "tools"] as const),
  ],
] as const;

describe("small checks", () => {
  for (const [method, path, body, status, param] of REFUSED) {
    it(`refuse ${method} ${path} ${JSON.stringify(body ?? "")} with ${status}`, async (t) => {
      const server = await startServer(
        t,
        respond(() => reply.text("Hello.")),
      );
      const answer = await server.ask(method, path, body);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      assert.equal((answer.body as { error: { param: string } }).error.param, param);
      assert.equal(server.upstream.requests.length, 0);
    });
  }

  it("take what the API takes: 16 tokens, and fewer of a chat completion", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hello.")),
    );
    await server.create({ ...HI, max_output_tokens: 16 });
    const chat = { messages, max_tokens: 5 };
    assert.equal((await server.ask("POST", "/v1/chat/completions", chat)).status, 200);
  });
});
