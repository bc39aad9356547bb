import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import { createHttpProvider } from "../../../src/providers/http/http-provider.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import { reply, script, startChatUpstream, type Upstream } from "../../../src/testing/index.ts";
import { PATIENT_TIMEOUTS, patience } from "../../patience.ts";
import { assertEventOrder } from "../event-order.ts";
import { eventsOf, request, textOf } from "../provider-contract.ts";
import { endOf, itemsOf } from "../streams.ts";

const transport = createTransport({});
after(() => transport.close());

const over = (upstream: Upstream): Provider =>
  createHttpProvider({
    vendor: "groq",
    wire: chatWire,
    baseUrl: upstream.url,
    headers: {},
    quirks: { slips: true },
    transport,
    retry: { attempts: 2, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 },
    timeouts: PATIENT_TIMEOUTS,
  });

const error = {
  message: "Failed to parse tool call arguments as JSON.",
  type: "invalid_request_error",
  code: "tool_use_failed",
  failed_generation: '{"name": "read", "arguments": {"path"',
  status_code: 400,
};

/** An answer with these deltas that then breaks off. */
const slip = (...deltas: readonly object[]) =>
  reply.raw(
    [...deltas.map((delta) => ({ id: "c1", model: "m", choices: [{ delta }] })), { error }].map(
      (payload) => JSON.stringify(payload),
    ),
  );

const CALLS = reply.calls([{ name: "read", arguments: { path: "a" } }]);
const call = { index: 0, id: "x", function: { name: "read", arguments: "{}" } };

const kindsOf = (events: readonly ModelEvent[]): string[] =>
  itemsOf(events).map(({ type }) => type);

describe("a model whose call cannot be read in the middle of its answer", () => {
  it("continues after its output so far, and repeats nothing", async () => {
    const first = slip({ reasoning: "A file. " }, { content: "I " }, { content: "look." });
    await using upstream = await startChatUpstream({ engine: script(first, CALLS) });
    const events = await eventsOf(over(upstream), request());
    assertEventOrder(events);
    assert.equal(textOf(events), "I look.");
    assert.deepEqual(kindsOf(events), ["reasoning", "message", "function_call"]);
    assert.equal(endOf(events).reason, "tool_calls");
    const messages = upstream.requests[1]?.body["messages"] as { role: string; content: string }[];
    const [said, hint] = messages.slice(-2);
    assert.deepEqual([said?.role, said?.content], ["assistant", "I look."]);
    assert.match(hint?.content ?? "", /could not be read/);
  });

  it("may fail again, even before its next output", async () => {
    const refused = reply.status(400, JSON.stringify({ error }));
    const engine = script(slip({ content: "One. " }), refused, slip({ content: "Two. " }), CALLS);
    await using upstream = await startChatUpstream({ engine });
    const notices: string[] = [];
    const events: ModelEvent[] = [];
    const call = {
      signal: patience(),
      notice: (told: { code: string }) => notices.push(told.code),
    };
    for await (const batch of over(upstream).stream(request(), call)) events.push(...batch);
    assertEventOrder(events);
    assert.equal(textOf(events), "One. Two. ");
    assert.deepEqual(kindsOf(events), ["message", "message", "function_call"]);
    assert.ok(notices.length >= 3);
  });

  it("ends the answer after several failures", async () => {
    const engine = script(...Array.from({ length: 9 }, () => slip({ content: "Hm. " })));
    await using upstream = await startChatUpstream({ engine });
    await assert.rejects(eventsOf(over(upstream), request()), { vendorCode: "tool_use_failed" });
    assert.equal(upstream.requests.length, 4);
  });

  it("ends the answer if a call was begun", async () => {
    await using upstream = await startChatUpstream({
      engine: script(slip({ content: "Hm. " }, { tool_calls: [call] }), CALLS),
    });
    await assert.rejects(eventsOf(over(upstream), request()), { vendorCode: "tool_use_failed" });
    assert.equal(upstream.requests.length, 1);
  });

  it("is asked again if there was no output", async () => {
    await using upstream = await startChatUpstream({ engine: script(slip({}), CALLS) });
    assert.deepEqual(kindsOf(await eventsOf(over(upstream), request())), ["function_call"]);
    const sizes = upstream.requests.map(({ body }) => (body["messages"] as unknown[]).length);
    assert.equal(sizes[0], sizes[1]);
  });
});
