/** Messages streams of a model that says nothing for some time: when they begin, and how they stay open. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { MODEL_RETRY } from "../../src/base/retry.ts";
import { script } from "../../src/testing/index.ts";
import { createManualTimers, type ManualTimers } from "./manual-timers.ts";
import { createStepModel, type OpenStream, openStream } from "./server-complaints-fixture.ts";
import { startServer, type TestServer } from "./server-fixture.ts";
import { createGate, type Gate } from "./socket/socket-fixture.ts";

const PING_MS = 12_000;
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';
const ASKED = {
  model: "m",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
  stream: true,
};

interface Scene {
  readonly server: TestServer;
  readonly timers: ManualTimers;
  readonly gate: Gate;
}

/** A model's server that refuses once the gate is open. */
async function startRefusing(t: TestContext, status: number, message: string): Promise<Scene> {
  const gate = createGate();
  const refusing = createServer((request, response) => {
    request.resume();
    void gate.opened.then(() => {
      const error = { message, type: "invalid_request_error" };
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error }));
    });
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  t.after(() => void refusing.close());
  const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/v1`;
  const usual = { model: "custom/m", provider: "openai-chat", url, api_key_name: null };
  const timers = createManualTimers();
  const server = await startServer(t, script(), {
    settings: { models: { named: [], usual } },
    retry: { ...MODEL_RETRY, attempts: 1 },
    server: { send: { keepAliveMs: PING_MS, commitMs: 1000, timers } },
  });
  return { server, timers, gate };
}

const TOO_LONG =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";

describe("a Messages stream that fails after some seconds", () => {
  for (const [status, message, told, type] of [
    [400, TOO_LONG, 400, "invalid_request_error"],
    [429, "Slow down.", 529, "overloaded_error"],
  ] as const) {
    it(`has the status of the failure: ${told}`, async (t) => {
      const { server, timers, gate } = await startRefusing(t, status, message);
      const answer = server.ask("POST", "/v1/messages", ASKED);
      await timers.started();
      timers.advance(PING_MS - 1);
      gate.open();
      const { status: given, body } = await answer;
      assert.equal(given, told);
      assert.equal((body as { error: { type: string } }).error.type, type);
    });
  }

  it("ends with an error event if its first ping was due before", async (t) => {
    const { server, timers, gate } = await startRefusing(t, 400, TOO_LONG);
    const opening = openStream(server, "/v1/messages", ASKED);
    await timers.started();
    timers.advance(PING_MS);
    const stream = await opening;
    assert.equal(stream.status, 200);
    await stream.until((text) => text === PING);
    gate.open();
    const text = await stream.rest();
    assert.ok(text.startsWith(`${PING}event: error\n`), text);
    const { request_id, ...error } = JSON.parse(
      /^data: (.*)\n\n$/m.exec(text.slice(PING.length))?.[1] ?? "",
    );
    assert.deepEqual(error, {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "prompt is too long: 9001 tokens > 8192 maximum",
      },
    });
    assert.equal(request_id, stream.headers.get("request-id"));
    assert.match(String(request_id), /^resp_/);
  });
});

describe("a Messages stream of a model that is silent", () => {
  it("has pings before and after it has begun", async (t) => {
    const timers = createManualTimers();
    const model = createStepModel();
    const send = { keepAliveMs: PING_MS, commitMs: 1000, timers };
    const server = await startServer(t, model.engine, { server: { send } });
    const opening = openStream(server, "/v1/messages", ASKED);
    await timers.started();
    timers.advance(PING_MS);
    const stream: OpenStream = await opening;
    await stream.until((text) => text === PING);
    timers.advance(PING_MS);
    await stream.until((text) => text === PING + PING);
    model.say("One ");
    const begun = await stream.until((text) => text.includes('"text":"One "'));
    assert.match(begun, /^(event: ping\n.*\n\n){2}event: message_start\n/);
    timers.advance(PING_MS - 1);
    timers.advance(1);
    await stream.until((text) => text.endsWith(PING));
    model.say("two.");
    model.end();
    const text = await stream.rest();
    assert.equal(text.split(PING).length - 1, 3);
    assert.match(text, /"text":"two\."[\s\S]*event: message_stop\n/);
  });
});
