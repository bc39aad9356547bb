import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { FunctionCall, Item } from "../../src/protocol/items.ts";
import {
  createHttpProvider,
  type HttpProviderOptions,
} from "../../src/providers/http/http-provider.ts";
import { createTransport } from "../../src/providers/http/transport.ts";
import { vertexWire } from "../../src/providers/messages/vertex.ts";
import { messagesWire } from "../../src/providers/messages/wire.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import type { Upstream } from "../../src/testing/loopback.ts";
import { startMessagesUpstream } from "../../src/testing/messages-upstream.ts";
import { reply } from "../../src/testing/reply.ts";
import { script } from "../../src/testing/script.ts";
import { PATIENT_TIMEOUTS } from "../patience.ts";
import { eventsOf, request, textOf } from "./provider-contract.ts";
import { endOf, itemsOf } from "./streams.ts";

const transport = createTransport({});
const upstreams: Upstream[] = [];

const over = (upstream: Upstream, more: Partial<HttpProviderOptions> = {}): Provider =>
  createHttpProvider({
    vendor: "anthropic",
    wire: messagesWire,
    baseUrl: upstream.url,
    headers: {},
    quirks: {},
    transport,
    retry: { attempts: 2, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 },
    timeouts: PATIENT_TIMEOUTS,
    ...more,
  });

after(async () => {
  await transport.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

const READ = { type: "function" as const, name: "read", parameters: { type: "object" } };
const CALL = reply.calls([{ name: "read", arguments: { path: "a" } }]);

/** The next request of the loop: everything so far, and a result for each call. */
async function follow(provider: Provider, asked: ModelRequest): Promise<ModelRequest> {
  const items = itemsOf(await eventsOf(provider, asked));
  const calls = items.filter((item): item is FunctionCall => item.type === "function_call");
  const results = calls.map(
    ({ call_id }): Item => ({ type: "function_call_output", call_id, output: "one" }),
  );
  return { ...asked, items: [...asked.items, ...items, ...results] };
}

describe("the Messages provider", { concurrency: 8 }, () => {
  it("sends its key in the vendor's header, and in no other", async () => {
    const engine = script(reply.text("Hi."));
    await using upstream = await startMessagesUpstream({ engine, key: "k-123456" });
    const headers = { "x-api-key": "k-123456" };
    assert.equal(textOf(await eventsOf(over(upstream, { headers }), request())), "Hi.");
    await assert.rejects(eventsOf(over(upstream), request()), { code: "provider_unauthorized" });
  });

  it("signs for Google Cloud", async () => {
    const engine = script(reply.text("Hi."));
    const options = { engine, key: "token-1", platform: "vertex" as const };
    await using upstream = await startMessagesUpstream(options);
    const sign = async () => ({ authorization: "Bearer token-1" });
    const provider = over(upstream, { wire: vertexWire, sign });
    assert.equal(textOf(await eventsOf(provider, request())), "Hi.");
    const unsigned = over(upstream, { wire: vertexWire });
    await assert.rejects(eventsOf(unsigned, request()), { code: "provider_unauthorized" });
  });

  for (const model of ["claude-opus-5-5", "claude-sonnet-4-5", "claude-opus-4-6", "kimi-k3"]) {
    it(`keeps its reasoning through three turns with tools: ${model}`, async () => {
      const engine = script(
        reply.reasoning("One.", CALL),
        reply.reasoning("Two.", CALL),
        reply.text("Done."),
      );
      await using upstream = await startMessagesUpstream({ engine });
      const provider = over(upstream);
      const reasoning = { effort: "high", summary: "detailed" } as const;
      const first = request({ model, tools: [READ], reasoning });
      const third = await follow(provider, await follow(provider, first));
      assert.equal(textOf(await eventsOf(provider, third)), "Done.");
    });
  }

  it("continues another vendor's turn in its middle, thinking or not", async () => {
    for (const effort of ["none", "high"] as const) {
      await using upstream = await startMessagesUpstream({ engine: script(reply.text("Done.")) });
      const items: Item[] = [
        { type: "message", role: "user", content: "Go" },
        { type: "reasoning", summary: [], encrypted_content: "gAAAA" },
        { type: "function_call", call_id: "call:1", name: "read", arguments: "{}" },
        { type: "function_call_output", call_id: "call:1", output: "one" },
      ];
      const reasoning = { effort, summary: undefined };
      const asked = request({ model: "claude-sonnet-4-5", items, tools: [READ], reasoning });
      assert.equal(textOf(await eventsOf(over(upstream), asked)), "Done.");
    }
  });

  it("continues where the vendor paused", async () => {
    const use = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
    const paused = reply.raw(
      [
        { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
        { type: "content_block_start", index: 0, content_block: use },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "pause_turn" }, usage: {} },
        { type: "message_stop" },
      ].map((event) => JSON.stringify(event)),
    );
    const engine = script(paused, reply.text("Found."));
    await using upstream = await startMessagesUpstream({ engine });
    const provider = over(upstream);
    const events = await eventsOf(provider, request());
    assert.equal(endOf(events).reason, "pause");
    const items = [...request().items, ...itemsOf(events)];
    assert.equal(textOf(await eventsOf(provider, request({ items }))), "Found.");
    const turns = upstream.requests[1]?.body["messages"];
    assert.deepEqual(Array.isArray(turns) && turns.at(-1), { role: "assistant", content: [use] });
  });

  it("retries without `strict` for a tool that the vendor cannot enforce", async () => {
    const message = "tools.0.custom.strict: Extra inputs are not permitted";
    const error = { type: "error", error: { type: "invalid_request_error", message } };
    const engine = script(reply.status(400, JSON.stringify(error)), reply.text("Loosely."));
    await using upstream = await startMessagesUpstream({ engine });
    const asked = request({ tools: [{ ...READ, strict: true }] });
    assert.equal(textOf(await eventsOf(over(upstream), asked)), "Loosely.");
    const strict = upstream.requests.map(({ body }) => {
      const [tool] = body["tools"] as readonly { strict?: boolean }[];
      return tool?.strict;
    });
    assert.deepEqual(strict, [true, undefined]);
  });

  it("reports in one line what the vendor refused", async () => {
    const long = "prompt is too long: 213462 tokens > 200000 maximum";
    const error = { type: "error", error: { type: "invalid_request_error", message: long } };
    await using upstream = await startMessagesUpstream({
      engine: script(reply.status(400, error, { "content-type": "application/json" })),
    });
    await assert.rejects(eventsOf(over(upstream), request()), (thrown) => {
      assert.ok(thrown instanceof Failure && thrown.code === "context_exceeded");
      assert.ok(thrown.message.includes(long));
      return true;
    });
  });
});
