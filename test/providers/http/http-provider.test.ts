import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Notice } from "../../../src/protocol/run-events.ts";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import { cohereWire } from "../../../src/providers/cohere/wire.ts";
import type { HttpRequest } from "../../../src/providers/http/http-answer.ts";
import {
  createHttpProvider,
  type HttpProviderOptions,
  joinUrl,
} from "../../../src/providers/http/http-provider.ts";
import { createTransport, type Transport } from "../../../src/providers/http/transport.ts";
import { dropRefused, findModel } from "../../../src/providers/models/models.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import { responsesWire } from "../../../src/providers/responses/wire.ts";
import {
  reply,
  script,
  startChatUpstream,
  startCohereUpstream,
  startResponsesUpstream,
  tooManyRequests,
  type Upstream,
} from "../../../src/testing/index.ts";
import { PATIENCE_MS, PATIENT_TIMEOUTS, patience } from "../../patience.ts";
import { eventsOf, request, textOf } from "../provider-contract.ts";
import { startLoopbackProxy } from "./loopback-proxy.ts";

const transport = createTransport({});
const upstreams: Upstream[] = [];
const RETRY = { attempts: 2, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 };

const over = (upstream: Upstream, more: Partial<HttpProviderOptions> = {}): Provider =>
  createHttpProvider({
    vendor: "test",
    wire: chatWire,
    baseUrl: upstream.url,
    headers: {},
    quirks: {},
    transport,
    retry: RETRY,
    timeouts: PATIENT_TIMEOUTS,
    ...more,
  });

// Connections are kept for the next request, and a failed test closes nothing: both would keep the test
// process alive.
after(async () => {
  await transport.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

describe("the HTTP provider", () => {
  it("signs the request and names itself", async () => {
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

  it("does not show the key in a refusal", async () => {
    await using upstream = await startChatUpstream({ engine: script(), key: "right-key-123" });
    const provider = over(upstream, { headers: { authorization: "Bearer wrong-key-123" } });
    await assert.rejects(eventsOf(provider, request()), (thrown) => {
      assert.ok(thrown instanceof Failure);
      assert.equal(thrown.code, "provider_unauthorized");
      assert.ok(!thrown.message.includes("wrong-key-123"));
      return true;
    });
  });

  it("waits as long as the server asks, and reports it", async () => {
    const faults = tooManyRequests({ retryAfter: 0, times: 1 });
    await using upstream = await startChatUpstream({ engine: script(reply.text("Now.")), faults });
    const notices: string[] = [];
    const stream = over(upstream).stream(request(), {
      signal: patience(),
      notice: ({ code }) => notices.push(code),
    });
    for await (const _ of stream);
    assert.deepEqual(
      notices.filter((code) => code !== "dropped"),
      ["retry"],
    );
  });

  for (const whole of [false, true]) {
    it(`retries an empty answer, ${whole ? "whole" : "streamed"}`, async () => {
      await using upstream = await startChatUpstream({
        engine: script(reply.text(""), reply.text("Now.")),
      });
      assert.equal(textOf(await eventsOf(over(upstream), request({ whole }))), "Now.");
      assert.equal(upstream.requests.length, 2);
    });

    it(`fails after repeated empty answers, ${whole ? "whole" : "streamed"}`, async () => {
      const engine = script(...Array.from({ length: 9 }, () => reply.text("")));
      await using upstream = await startChatUpstream({ engine });
      const asked = eventsOf(over(upstream), request({ whole }));
      await assert.rejects(asked, { code: "empty_answer" });
    });
  }

  it("does not wait for an hour", async () => {
    const faults = tooManyRequests({ retryAfter: 3600 });
    await using upstream = await startChatUpstream({ engine: script(), faults });
    await assert.rejects(eventsOf(over(upstream), request()), /asks to wait 3600 s/);
    assert.equal(upstream.requests.length, 1);
  });

  it("retries a few times if the server cannot read its model's call", async () => {
    const error = {
      message: "Failed to call a function.",
      type: "invalid_request_error",
      code: "tool_use_failed",
      failed_generation: "<function=read>",
    };
    const slip = reply.status(400, JSON.stringify({ error }));
    await using once = await startChatUpstream({ engine: script(slip, reply.text("Read.")) });
    assert.equal(textOf(await eventsOf(over(once), request())), "Read.");
    await using always = await startChatUpstream({ engine: script(slip, slip, slip) });
    await assert.rejects(eventsOf(over(always), request()), {
      code: "provider_failed",
      vendorCode: "tool_use_failed",
      message: /Failed to call a function/,
    });
    assert.equal(always.requests.length, RETRY.attempts);
  });

  it("never sends a request again after its answer has begun", async () => {
    const failing = script(reply.failure("broke", { text: "Some words" }), reply.text("Again."));
    await using upstream = await startChatUpstream({ engine: failing });
    await assert.rejects(eventsOf(over(upstream), request()), { name: "Failure" });
    assert.equal(upstream.requests.length, 1);
  });

  it("emits everything before an error in the same packet, once", async () => {
    const data = (payload: object): string => `data: ${JSON.stringify(payload)}\n\n`;
    const said = data({ id: "c", model: "m", choices: [{ delta: { content: "Well, " } }] });
    const failed = data({ error: { message: "The server is overloaded.", code: 503 } });
    for (const [packet, times] of [
      [said + failed, 1],
      [said.trimEnd(), 1],
      [failed, 2],
    ] as const) {
      let asked = 0;
      const answers: Transport = {
        ...transport,
        send: async () => {
          asked++;
          const chunks = toChunks(Buffer.from(packet));
          const text = async (): Promise<string> => packet;
          const headers = { "content-type": "text/event-stream" };
          return { status: 200, headers, chunks, text, readAll: async () => {} };
        },
      };
      const provider = over({ url: "http://a/v1" } as Upstream, { transport: answers });
      const heard: string[] = [];
      const listening = async (): Promise<void> => {
        const stream = provider.stream(request(), { signal: patience() });
        for await (const batch of stream) heard.push(textOf([...batch]));
      };
      await assert.rejects(listening(), { name: "Failure" });
      assert.deepEqual([heard.join(""), asked], [times === 1 ? "Well, " : "", times]);
    }
  });

  it("reports that no server listens at the address", async () => {
    const upstream = await startChatUpstream({ engine: script() });
    await upstream.close();
    await assert.rejects(eventsOf(over(upstream), request()), /Nothing answers at/);
  });

  const refusals = [
    { status: "502 Bad Gateway", message: /did not reach `models\.test/, asked: 2 },
    { status: "407 Proxy Authentication Required", message: /wants a name/, asked: 1 },
    { status: "403 Forbidden", message: /lets nothing through/, asked: 1 },
  ];
  for (const { status, message, asked } of refusals) {
    it(`${asked > 1 ? "retries" : "does not retry"} if a proxy refuses with ${status}`, async () => {
      const proxy = await startLoopbackProxy(Array<string>(RETRY.attempts).fill(status));
      const proxied = createTransport({ HTTP_PROXY: proxy.url });
      try {
        const upstream = { url: "http://models.test:81/v1" } as Upstream;
        const answering = eventsOf(over(upstream, { transport: proxied }), request());
        await assert.rejects(answering, { code: "provider_unreachable", message });
        assert.equal(proxy.asked.length, asked);
      } finally {
        await proxied.close();
        proxy.server.close();
      }
    });
  }

  it("uses a proxy that failed once", async () => {
    await using upstream = await startChatUpstream({ engine: script(reply.text("Through.")) });
    const proxy = await startLoopbackProxy(["503 Service Unavailable"]);
    const proxied = createTransport({ HTTP_PROXY: proxy.url });
    try {
      const url = upstream.url.replace("127.0.0.1", "models.test");
      const provider = over({ url } as Upstream, { transport: proxied });
      assert.equal(textOf(await eventsOf(provider, request())), "Through.");
      assert.equal(proxy.asked.length, 2);
    } finally {
      await proxied.close();
      proxy.server.close();
    }
  });

  it("reports that a host does not resolve, and does not retry", async () => {
    const provider = createHttpProvider({
      vendor: "test",
      wire: chatWire,
      // Longer than a label may be, so that no resolver is asked.
      baseUrl: `http://${"a".repeat(64)}.example/v1`,
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

  it("asks for a stream if an answer in one piece is refused", async () => {
    await using upstream = await startResponsesUpstream({
      engine: script(reply.text("In pieces.")),
      personality: "legacy",
    });
    const provider = over(upstream, { wire: responsesWire });
    assert.equal(textOf(await eventsOf(provider, request({ whole: true }))), "In pieces.");
    assert.deepEqual(
      upstream.requests.map(({ body }) => body["stream"]),
      [false, true],
    );
  });

  it("allows an answer in one piece the time of a first byte and of a pause", async () => {
    const asked: HttpRequest[] = [];
    const sent: Transport = {
      ...transport,
      send: (unsent) => {
        asked.push(unsent);
        return transport.send(unsent);
      },
    };
    const engine = script(reply.text("A"), reply.text("B"));
    await using upstream = await startChatUpstream({ engine });
    const timeouts = { connectMs: PATIENCE_MS, firstByteMs: PATIENCE_MS, idleMs: PATIENCE_MS + 1 };
    const provider = over(upstream, { transport: sent, timeouts });
    assert.equal(textOf(await eventsOf(provider, request({ whole: true }))), "A");
    assert.equal(textOf(await eventsOf(provider, request())), "B");
    assert.deepEqual(
      asked.map((one) => [one.timeouts.firstByteMs, one.headers["accept"]]),
      [
        [2 * PATIENCE_MS + 1, "application/json"],
        [PATIENCE_MS, "text/event-stream"],
      ],
    );
  });

  it("names what the model, the wire and the vendor leave out, in the spelling of requests", async () => {
    await using upstream = await startChatUpstream({ engine: script(reply.text("Hi.")) });
    const model = findModel("openai", "gpt-5");
    const provider = over(upstream, {
      quirks: { refuses: ["service_tier"], maxTokensField: "max_completion_tokens" },
      prepare: (asked) => dropRefused(model, asked),
    });
    const notices: [message: string, params: readonly string[] | undefined][] = [];
    const asked = request({
      model: "gpt-5",
      temperature: 0.5,
      top_p: 0.5,
      options: { stop: ["x"], service_tier: "flex", metadata: { a: "b" }, user: "u" },
    });
    const call = {
      signal: patience(),
      notice: ({ message, params }: Omit<Notice, "type">) => notices.push([message, params]),
    };
    for await (const _ of provider.stream(asked, call));
    assert.deepEqual(notices, [
      ["`effort:none` left out: gpt-5 refuses it.", ["reasoning.effort"]],
      ["`temperature` left out: gpt-5 refuses it.", ["temperature"]],
      ["`top_p` left out: gpt-5 refuses it.", ["top_p"]],
      ["`stop` left out: gpt-5 refuses it.", ["stop"]],
      ["`service_tier` left out: gpt-5 over test does not support it.", ["service_tier"]],
      ["`metadata` left out: gpt-5 over test does not support it.", ["metadata"]],
    ]);
    assert.equal(upstream.requests[0]?.body["user"], "u");
  });

  it("lets a model think that refuses not to, and reports it", async () => {
    const refusal = "Reasoning is mandatory for this endpoint and cannot be disabled.";
    const engine = script(reply.status(400, { error: { message: refusal } }), reply.text("Hi."));
    await using upstream = await startChatUpstream({ engine });
    const provider = over(upstream, { quirks: { effortNone: true } });
    const dropped: unknown[] = [];
    const call = {
      signal: patience(),
      notice: ({ code, params }: Omit<Notice, "type">) =>
        code === "dropped" && dropped.push(params),
    };
    const reasoning = { effort: "none", summary: undefined } as const;
    for await (const _ of provider.stream(request({ reasoning }), call));
    const efforts = upstream.requests.map(({ body }) => body["reasoning_effort"]);
    assert.deepEqual(efforts, ["none", undefined]);
    assert.deepEqual(dropped, [["reasoning.effort"]]);
  });

  it("leaves out a field that the vendor refuses under its own name, and reports it", async () => {
    const engine = script(reply.text("Hi."));
    await using upstream = await startCohereUpstream({ engine });
    const provider = over(upstream, { vendor: "cohere", wire: cohereWire });
    const dropped: unknown[] = [];
    const call = {
      signal: patience(),
      notice: ({ code, params }: Omit<Notice, "type">) =>
        code === "dropped" && dropped.push(params),
    };
    for await (const _ of provider.stream(request({ extras: { top_k: 501 } }), call));
    assert.deepEqual(
      upstream.requests.map(({ body }) => body["k"]),
      [501, undefined],
    );
    assert.deepEqual(dropped, [["top_k"]]);
  });

  it("takes a base URL with and without the path", () => {
    assert.equal(joinUrl("http://a/v1", "/chat/completions"), "http://a/v1/chat/completions");
    assert.equal(joinUrl("http://a/v1/", "/chat/completions"), "http://a/v1/chat/completions");
    assert.equal(
      joinUrl("http://a/v1/chat/completions", "/chat/completions"),
      "http://a/v1/chat/completions",
    );
  });

  it("sends the whole conversation if the server forgot the answer it chains to", async () => {
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

async function* toChunks(...chunks: readonly Buffer[]): AsyncGenerator<Buffer, void> {
  yield* chunks;
}
