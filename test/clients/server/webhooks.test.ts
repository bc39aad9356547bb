/** Webhooks, checked by the official client. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import OpenAI from "openai";
import { makeWebhookSecret } from "../../../src/responses/webhooks/webhook-secret.ts";
import { reply, script } from "../../../src/testing/index.ts";
import { startServer } from "../../server/server-fixture.ts";
import {
  type HeardEvent,
  SECRET,
  startReceiver,
  toWebhookSettings,
} from "../../server/webhook-receiver.ts";

async function hear(t: TestContext): Promise<HeardEvent & { readonly id: string }> {
  const receiver = await startReceiver();
  t.after(() => receiver[Symbol.asyncDispose]());
  const server = await startServer(t, script(reply.text("Hello.")), {
    settings: toWebhookSettings(receiver),
  });
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "key" });
  const { id } = await client.responses.create({ model: "m", input: "Hi", background: true });
  const [heard = assert.fail()] = await receiver.until(1);
  return { ...heard, id };
}

function clientOf(webhookSecret: string): OpenAI {
  return new OpenAI({ apiKey: "key", webhookSecret });
}

describe("webhooks with the official client", () => {
  it("are unwrapped with the secret", async (t) => {
    const { body, headers, id } = await hear(t);
    const sent = headers as Record<string, string>;
    const event = await clientOf(SECRET).webhooks.unwrap(body, sent);
    assert.equal(event.type, "response.completed");
    assert.ok(event.type === "response.completed" && event.data.id === id);
    assert.equal(event.object, "event");
    assert.equal(sent["webhook-id"], event.id);
  });

  it("are refused with another secret, and if a letter of them was changed", async (t) => {
    const { body, headers } = await hear(t);
    const sent = headers as Record<string, string>;
    await assert.rejects(clientOf(makeWebhookSecret()).webhooks.unwrap(body, sent));
    await assert.rejects(
      clientOf(SECRET).webhooks.unwrap(body.replace("completed", "failed"), sent),
    );
    const late = { ...sent, "webhook-timestamp": "1700000000" };
    await assert.rejects(clientOf(SECRET).webhooks.unwrap(body, late));
  });
});
