import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { type Reply, reply, type Script, script } from "../../src/testing/index.ts";
import { startServer, type TestServer } from "./server-fixture.ts";
import { type Receiver, startReceiver, toWebhookSettings } from "./webhook-receiver.ts";

async function start(
  t: TestContext,
  engine: Script,
  settings: { readonly maxBackground?: number } = {},
): Promise<{ readonly server: TestServer; readonly receiver: Receiver }> {
  const receiver = await startReceiver();
  t.after(() => receiver[Symbol.asyncDispose]());
  const server = await startServer(t, engine, {
    settings: { ...toWebhookSettings(receiver), ...settings },
  });
  return { server, receiver };
}

async function create(server: TestServer): Promise<string> {
  return (await server.create({ input: "Hi", background: true })).id;
}

describe("webhooks of a server", () => {
  const CASES: Readonly<Record<string, [Reply, string]>> = {
    "an answer": [reply.text("Hello."), "completed"],
    "an answer that was cut": [reply.length("Hello there"), "incomplete"],
    "a refusal": [reply.refusal("I must not."), "completed"],
    "a vendor that fails": [reply.status(400, { error: { message: "No." } }), "failed"],
  };
  for (const [name, [said, status]] of Object.entries(CASES)) {
    it(`tell of the ending that the response shows: ${name}`, async (t) => {
      const { server, receiver } = await start(t, script(said));
      const id = await create(server);
      const type = `response.${status}`;
      const [{ event } = assert.fail()] = await receiver.until(1);
      assert.deepEqual([event.type, event.data.id], [type, id]);
      const shown = (await server.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
      assert.equal(`response.${shown.status}`, type);
    });
  }

  it("tell of one that was cancelled while it waited for its turn", async (t) => {
    const silent = script(reply.silence(), reply.silence());
    const { server, receiver } = await start(t, silent, { maxBackground: 1 });
    const first = await create(server);
    const second = await create(server);
    await server.ask("POST", `/v1/responses/${second}/cancel`);
    await receiver.until(1);
    await server.ask("POST", `/v1/responses/${first}/cancel`);
    const heard = await receiver.until(2);
    assert.deepEqual(
      heard.map(({ event }) => [event.type, event.data.id]),
      [
        ["response.cancelled", second],
        ["response.cancelled", first],
      ],
    );
  });

  it("tell nothing of a response whose client waits for it, nor of one that is not stored", async (t) => {
    const { server, receiver } = await start(
      t,
      script(reply.text("One."), reply.text("Two."), reply.text("Three.")),
    );
    await server.create({ input: "Hi" });
    await server.create({ input: "Hi", store: false });
    const id = await create(server);
    const [{ event } = assert.fail()] = await receiver.until(1);
    assert.equal(event.data.id, id);
    await server.responses.durable.idle();
    assert.equal(receiver.heard.length, 1);
  });

  it("show as a run below the response's, which ends well, and go with it", async (t) => {
    const { server, receiver } = await start(t, script(reply.text("Hello.")));
    const id = await create(server);
    await receiver.until(1);
    const { durable } = server.responses;
    const delivery = `${toRunId(id)}/webhook-orders`;
    assert.equal((await durable.result(delivery)).ending, "completed");
    const seen = (await server.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
    assert.deepEqual([seen.status, seen.output_text], ["completed", "Hello."]);
    await server.ask("DELETE", `/v1/responses/${id}`);
    assert.equal(await durable.status(delivery), undefined);
  });

  it("do not hold the response up, whatever the endpoint does", async (t) => {
    const { server, receiver } = await start(t, script(reply.text("Hello.")));
    receiver.answer = undefined;
    const id = await create(server);
    await receiver.until(1);
    const shown = (await server.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
    assert.equal(shown.status, "completed");
    await server.ask("DELETE", `/v1/responses/${id}`);
  });
});
