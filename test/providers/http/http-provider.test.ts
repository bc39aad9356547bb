import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import {
  createHttpProvider,
  type HttpProviderOptions,
  joinUrl,
} from "../../../src/providers/http/http-provider.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import { responsesWire } from "../../../src/providers/responses/wire.ts";
import {
  reply,
  script,
  startChatUpstream,
  startResponsesUpstream,
  tooManyRequests,
  type Upstream,
} from "../../../src/testing/index.ts";
import { eventsOf, request, textOf } from "../provider-contract.ts";

const transport = createTransport({});
const upstreams: Upstream[] = [];
const RETRY = { attempts: 2, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 };
// Everything comes at once on the loopback but silence, which only a limit ends.
const TIMEOUTS = { connectMs: 1000, firstByteMs: 20_000, idleMs: 20_000 };

const over = (upstream: Upstream, more: Partial<HttpProviderOptions> = {}): Provider =>
  createHttpProvider({
    vendor: "test",
    wire: chatWire,
    baseUrl: upstream.url,
    headers: {},
    quirks: {},
    transport,
    retry: RETRY,
    timeouts: TIMEOUTS,
    ...more,
  });

// Connections are kept for the next request, and a failed test closes nothing: either would keep the
// test process alive.
after(async () => {
  await transport.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

describe("the HTTP provider", () => {
  it("signs the request and says who it is", async () => {
    await using upstream = await startChatUpstream({
      engine: script(reply.text("Hi.")),
      key: "k-123456",
    });
    const provider = over(upstream, { headers: { authorization: "Bearer k-123456" } });
    assert.equal(textOf(await eventsOf(provider, request())), "Hi.");
    const headers = upstream.requests[0]?.headers ?? {};
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers.accept, "text/event-stream");
  });

  it("does not show the key when it is refused", async () => {
    await using upstream = await startChatUpstream({ engine: script(), key: "right-key-123" });
    const provider = over(upstream, { headers: { authorization: "Bearer wrong-key-123" } });
    await assert.rejects(eventsOf(provider, request()), (thrown) => {
      assert.ok(thrown instanceof Failure);
      assert.equal(thrown.code, "provider_unauthorized");
      assert.ok(!thrown.message.includes("wrong-key-123"));
      return true;
    });
  });

  it("waits as long as it is asked to, and tells of it", async () => {
    const faults = tooManyRequests({ retryAfter: 0, times: 1 });
    await using upstream = await startChatUpstream({ engine: script(reply.text("Now.")), faults });
    const notices: string[] = [];
    const stream = over(upstream).stream(request(), {
      signal: AbortSignal.timeout(5000),
      notice: ({ code }) => notices.push(code),
    });
    for await (const _ of stream);
    assert.deepEqual(notices, ["retry"]);
  });

  it("does not wait for an hour", async () => {
    const faults = tooManyRequests({ retryAfter: 3600 });
    await using upstream = await startChatUpstream({ engine: script(), faults });
    await assert.rejects(eventsOf(over(upstream), request()), /asks to wait 3600 s/);
    assert.equal(upstream.requests.length, 1);
  });

  it("never sends again what has begun to answer", async () => {
    const failing = script(reply.failure("broke", { text: "Some words" }), reply.text("Again."));
    await using upstream = await startChatUpstream({ engine: failing });
    await assert.rejects(eventsOf(over(upstream), request()), { name: "Failure" });
    assert.equal(upstream.requests.length, 1);
  });

  it("says that nothing listens there", async () => {
    const upstream = await startChatUpstream({ engine: script() });
    await upstream.close();
    await assert.rejects(eventsOf(over(upstream), request()), /Nothing answers at/);
  });

  it("says that a host does not resolve, and does not try again", async () => {
    const provider = createHttpProvider({
      vendor: "test",
      wire: chatWire,
      baseUrl: "http://no-such-host.invalid/v1",
      headers: {},
      quirks: {},
      transport,
      retry: RETRY,
    });
    await assert.rejects(eventsOf(provider, request()), { code: "host_unknown" });
  });

  it("reads an answer that was not streamed", async () => {
    const message = { role: "assistant", content: "Whole." };
    const body = { id: "c1", model: "m", choices: [{ message, finish_reason: "stop" }] };
    const whole = script(reply.status(200, body, { "content-type": "application/json" }));
    await using upstream = await startChatUpstream({ engine: whole });
    assert.equal(textOf(await eventsOf(over(upstream), request())), "Whole.");
  });

  it("takes a base URL with and without the path", () => {
    assert.equal(joinUrl("http://a/v1", "/chat/completions"), "http://a/v1/chat/completions");
    assert.equal(joinUrl("http://a/v1/", "/chat/completions"), "http://a/v1/chat/completions");
    assert.equal(
      joinUrl("http://a/v1/chat/completions", "/chat/completions"),
      "http://a/v1/chat/completions",
    );
  });

  it("sends the whole conversation when the server forgot the answer it chains to", async () => {
    await using upstream = await startResponsesUpstream({
      engine: script(reply.text("Hello again.")),
    });
    const provider = over(upstream, { wire: responsesWire, quirks: { store: true } });
    const at = { response_id: "resp_forgotten", dialect: "function_call", stored: true } as const;
    const asked = request({
      items: [
        { type: "message", role: "user", content: "Hello" },
        { type: "message", role: "assistant", content: "Hi." },
        { type: "message", role: "user", content: "Again?" },
      ],
      previous: { at, covered: 2 },
    });
    assert.equal(textOf(await eventsOf(provider, asked)), "Hello again.");
    assert.equal(upstream.requests[0]?.body["previous_response_id"], "resp_forgotten");
    assert.equal(upstream.requests[1]?.body["previous_response_id"], undefined);
    const input = upstream.requests[1]?.body["input"];
    assert.equal(Array.isArray(input) && input.length, 3);
  });
});
