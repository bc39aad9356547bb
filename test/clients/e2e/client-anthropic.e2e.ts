/** The built server with Anthropic's official client: models, keys in either header, and its other calls. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { reply, respond } from "../../../src/testing/index.ts";
import { KEY, serveScript, TIMEOUT } from "./client-fixture.ts";

const say = (content: string): { role: "user"; content: string } => ({ role: "user", content });

describe("@anthropic-ai/sdk", () => {
  it("lists models, reads one, and uses it with the key in either header", TIMEOUT, async () => {
    await using bench = await serveScript(
      respond(() => reply.text("Hello.")),
      { env: { OFFSHOOT_SERVER_MODELS: '{"claude-fast": "custom/scripted"}' } },
    );
    const baseURL = bench.served.url;
    for (const auth of [{ apiKey: KEY }, { authToken: KEY, apiKey: null }]) {
      const client = new Anthropic({ baseURL, maxRetries: 0, ...auth });
      const ids: string[] = [];
      for await (const model of client.models.list({ limit: 2 })) ids.push(model.id);
      assert.ok(ids.includes("claude-fast"), ids.join(" "));
      const one = await client.models.retrieve("claude-fast");
      assert.deepEqual([one.type, one.display_name], ["model", "claude-fast"]);
      const message = await client.messages.create({
        model: one.id,
        max_tokens: 100,
        messages: [say("Hi")],
      });
      assert.equal(message.content[0]?.type === "text" && message.content[0].text, "Hello.");
    }
  });

  it(
    "throws its own errors: for a key, a model, an address and a body that is too large",
    TIMEOUT,
    async () => {
      await using bench = await serveScript(
        respond(() => reply.text("Hello.")),
        { env: { OFFSHOOT_SERVER_MAX_BODY_BYTES: "100000" } },
      );
      const baseURL = bench.served.url;
      const client = new Anthropic({ baseURL, apiKey: KEY, maxRetries: 0 });
      const asked = { model: "custom/scripted", max_tokens: 100, messages: [say("Hi")] };
      const wrong = new Anthropic({ baseURL, apiKey: "osk_wrong", maxRetries: 0 });
      await assert.rejects(wrong.messages.create(asked), Anthropic.AuthenticationError);
      await assert.rejects(client.models.retrieve("nobody/knows"), Anthropic.NotFoundError);
      await assert.rejects(
        client.messages.batches.list().then((page) => page.data),
        Anthropic.NotFoundError,
      );
      const large = { ...asked, messages: [say("x".repeat(200_000))] };
      await assert.rejects(client.messages.create(large), (thrown) => {
        assert.ok(thrown instanceof Anthropic.APIError);
        assert.deepEqual([thrown.status, thrown.type], [413, "request_too_large"]);
        return true;
      });
      const after = await client.messages.create(asked);
      assert.equal(after.stop_reason, "end_turn", "the server continues");
    },
  );

  it("is noticed when it disconnects in the middle of a stream", TIMEOUT, async () => {
    await using bench = await serveScript(respond(() => reply.silence("One two three.")));
    const client = new Anthropic({ baseURL: bench.served.url, apiKey: KEY, maxRetries: 0 });
    const stream = client.messages.stream({
      model: "custom/scripted",
      max_tokens: 100,
      messages: [say("Hi")],
    });
    for await (const event of stream) if (event.type === "content_block_delta") break;
    stream.abort();
    await assert.rejects(stream.finalMessage(), Anthropic.APIUserAbortError);
  });
});
