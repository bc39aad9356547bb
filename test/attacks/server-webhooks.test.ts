/**
 * Attacks by clients and endpoints of webhooks: none names an address, learns about other tenants, or gets
 * a secret.
 */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { untilTrue } from "../patience.ts";
import {
  createGuardBench,
  type GuardedServer,
  startGuarded,
} from "../server/guard/guard-fixture.ts";
import {
  type Receiver,
  SECRET,
  startReceiver,
  toWebhookSettings,
} from "../server/webhook-receiver.ts";

const hello = respond(() => reply.text("Hello."));

async function openReceiver(t: TestContext): Promise<Receiver> {
  const receiver = await startReceiver();
  t.after(() => receiver[Symbol.asyncDispose]());
  return receiver;
}

async function create(server: GuardedServer, token: string, more: object = {}): Promise<string> {
  const body = { model: "m", input: "Hi", background: true, ...more };
  const { status, text } = await server.send({
    method: "POST",
    path: "/v1/responses",
    token,
    body,
  });
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { id: string }).id;
}

describe("attacks by webhooks", () => {
  it("name no address of their own, whatever the field is called", async (t) => {
    const receiver = await openReceiver(t);
    const foreign = await openReceiver(t);
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello, { settings: toWebhookSettings(receiver) });
    const { token } = await bench.makeKey();
    const url = `http://${foreign.host}/hook`;
    const rows: object[] = [
      { webhook_url: url },
      { webhooks: [{ url, secret: SECRET }] },
      { webhook: { url }, callback_url: url },
      { metadata: { webhook_url: url } },
    ];
    for (const row of rows) await create(server, token, row);
    await receiver.until(rows.length);
    assert.equal(foreign.heard.length, 0);
  });

  it("send an endpoint of one tenant nothing of another, and no event has content", async (t) => {
    const receiver = await openReceiver(t);
    const bench = createGuardBench();
    const { webhooks = [], web } = toWebhookSettings(receiver);
    const settings = { web, webhooks: webhooks.map((one) => ({ ...one, tenants: ["one"] })) };
    const server = await startGuarded(t, bench, hello, { settings });
    const one = await bench.makeKey({ tenant: "one" });
    const two = await bench.makeKey({ tenant: "two" });
    const other = await create(server, two.token);
    const read = async (): Promise<string> =>
      (await server.send({ method: "GET", path: `/v1/responses/${other}`, token: two.token })).text;
    await untilTrue(
      async () => (await read()).includes('"completed"'),
      "the other's response ends",
    );
    const own = await create(server, one.token);
    await receiver.until(1);
    assert.deepEqual(
      receiver.heard.map(({ event }) => event.data),
      [{ id: own }],
    );
    const [{ body } = assert.fail()] = receiver.heard;
    assert.doesNotMatch(body, /Hello|Hi|one/);
    const asked = await server.send({
      method: "GET",
      path: `/v1/responses/${own}`,
      token: two.token,
    });
    assert.equal(asked.status, 404, "the id alone opens nothing");
  });

  it("learn no secret and no key from what is sent", async (t) => {
    const receiver = await openReceiver(t);
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello, { settings: toWebhookSettings(receiver) });
    const { token } = await bench.makeKey();
    await create(server, token);
    const [{ headers, body } = assert.fail()] = await receiver.until(1);
    const sent = JSON.stringify(headers) + body;
    for (const secret of [token, SECRET, SECRET.slice("whsec_".length)]) {
      assert.ok(!sent.includes(secret));
    }
    assert.deepEqual(
      ["authorization", "cookie", "x-api-key"].filter((name) => name in headers),
      [],
    );
  });
});
