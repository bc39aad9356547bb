import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Item } from "../../src/protocol/items.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import { toUsage } from "../../src/protocol/usage.ts";
import { cohereWire } from "../../src/providers/cohere/wire.ts";
import {
  createHttpProvider,
  type HttpProviderOptions,
} from "../../src/providers/http/http-provider.ts";
import { createTransport } from "../../src/providers/http/transport.ts";
import { costOf, findModel } from "../../src/providers/models/models.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { startCohereUpstream } from "../../src/testing/cohere-upstream.ts";
import type { Upstream } from "../../src/testing/loopback.ts";
import { reply } from "../../src/testing/reply.ts";
import { script } from "../../src/testing/script.ts";
import { PATIENT_TIMEOUTS, patience } from "../patience.ts";
import { eventsOf, itemsOf, request, textOf, WEATHER } from "./provider-contract.ts";

const transport = createTransport({});
after(() => transport.close());

const over = (upstream: Upstream, more: Partial<HttpProviderOptions> = {}): Provider =>
  createHttpProvider({
    vendor: "cohere",
    wire: cohereWire,
    baseUrl: upstream.url,
    headers: {},
    quirks: {},
    transport,
    retry: { attempts: 2, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 },
    timeouts: PATIENT_TIMEOUTS,
    ...more,
  });

describe("the cohere provider", () => {
  it("reports a missing model, and a wrong key", async () => {
    const models = ["command-a-03-2025"];
    await using upstream = await startCohereUpstream({ engine: script(), key: "k", models });
    const signed = over(upstream, { sign: () => ({ authorization: "Bearer k" }) });
    await assert.rejects(eventsOf(signed, request({ model: "command-z" })), {
      code: "model_not_found",
      message: /^cohere answered 404: model 'command-z' not found/,
    });
    await assert.rejects(eventsOf(over(upstream), request()), {
      code: "provider_unauthorized",
      message: /no api key supplied/,
    });
    assert.equal(upstream.requests.length, 2);
  });

  it("says that a conversation is too long", async () => {
    await using upstream = await startCohereUpstream({ engine: script(), maxChars: 20 });
    await assert.rejects(eventsOf(over(upstream), request()), { code: "context_exceeded" });
  });

  it("does not mistake a limit of the answer that is too high for a conversation that is too long", async () => {
    const message =
      "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.";
    const refused = reply.status(400, { id: "x", error_type: "TOO_MANY_TOKENS", message });
    await using upstream = await startCohereUpstream({ engine: script(refused) });
    await assert.rejects(eventsOf(over(upstream), request()), { code: "provider_rejected" });
  });

  it("waits as long as a busy server asks", async () => {
    const message = "You are past the per minute request limit, please wait and try again later.";
    const busy = reply.status(429, { message }, { "retry-after": "0" });
    await using upstream = await startCohereUpstream({ engine: script(busy, reply.text("Hi.")) });
    assert.equal(textOf(await eventsOf(over(upstream), request())), "Hi.");
    assert.equal(upstream.requests.length, 2);
  });

  it("retries without thinking if the model cannot think, and reports it", async () => {
    const message = "invalid request: thinking is not supported for this model.";
    const refused = reply.status(400, { message });
    const engine = script(refused, reply.text("Hi."));
    await using upstream = await startCohereUpstream({ engine });
    const notices: string[] = [];
    const note = ({ code }: { code: string }): number => notices.push(code);
    const asked = request({ reasoning: { effort: "high", summary: undefined } });
    const events: ModelEvent[] = [];
    const stream = over(upstream).stream(asked, { signal: patience(), notice: note });
    for await (const batch of stream) events.push(...batch);
    assert.equal(textOf(events), "Hi.");
    assert.deepEqual(
      upstream.requests.map(({ body }) => body["thinking"]),
      [{ type: "enabled" }, undefined],
    );
    assert.deepEqual(notices, ["replay"]);
  });

  it("sends documents and a safety mode of the user, and returns citations", async () => {
    const documents = [{ id: "tides", data: { text: "Bergen: 90 cm." } }];
    const own = { documents, safety_mode: "STRICT" };
    const annotation = { type: "file_citation", file_id: "tides" } as const;
    const cited = { ...annotation, filename: "tides", start_index: 0, end_index: 6 };
    async function* engine(): AsyncGenerator<readonly ModelEvent[]> {
      const item: Item = { type: "message", role: "assistant", content: [] };
      const place = { index: 0, part: 0 };
      yield [
        { type: "start", response_id: "", model: "" },
        { type: "item_start", index: 0, item },
        { type: "text_delta", ...place, delta: "90 cm." },
        { type: "annotation", ...place, annotation: cited },
        { type: "item_end", index: 0, item },
        { type: "end", reason: "stop", usage: toUsage({}), continuation: undefined },
      ];
    }
    for (const whole of [false, true]) {
      await using upstream = await startCohereUpstream({ engine });
      const [message] = itemsOf(await eventsOf(over(upstream, { own }), request({ whole })));
      const [sent] = upstream.requests;
      assert.deepEqual([sent?.body["documents"], sent?.body["safety_mode"]], [documents, "STRICT"]);
      const content = message?.type === "message" ? message.content : [];
      assert.deepEqual(content, [{ type: "output_text", text: "90 cm.", annotations: [cited] }]);
    }
  });

  it("asks for JSON in the instructions if the user's documents forbid a format", async () => {
    const own = { documents: ["Bergen: 90 cm."] };
    const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    const format = { type: "json_schema" as const, name: "out", schema, strict: true };
    await using upstream = await startCohereUpstream({ engine: script(reply.text('{"a":90}')) });
    const events = await eventsOf(over(upstream, { own }), request({ format }));
    assert.equal(textOf(events), '{"a":90}');
    const [refused, taken] = upstream.requests;
    assert.ok(refused?.body["response_format"]);
    assert.equal(taken?.body["response_format"], undefined);
    assert.match(taken?.text ?? "", /fits this JSON schema/);
  });

  it("does not wait for a month if a trial is used up", async () => {
    const message = "You are using a Trial key, which is limited to 1000 API calls / month.";
    const spent = reply.status(429, { message });
    await using upstream = await startCohereUpstream({ engine: script(spent, reply.text("Hi.")) });
    await assert.rejects(eventsOf(over(upstream), request()), { code: "provider_rejected" });
    assert.equal(upstream.requests.length, 1);
  });

  it("sends the model's plan for its calls back", async () => {
    const calls = reply.calls([{ name: "weather", arguments: { city: "Oslo" } }]);
    const engine = script(reply.reasoning("I will look.", calls), reply.text("Cold."));
    await using upstream = await startCohereUpstream({ engine });
    const provider = over(upstream);
    const first = request({ tools: [WEATHER] });
    const made = itemsOf(await eventsOf(provider, first));
    assert.deepEqual(
      made.map(({ type }) => type),
      ["reasoning", "function_call"],
    );
    const result = { type: "function_call_output" as const, call_id: "call_1", output: "cold" };
    await eventsOf(provider, { ...first, items: [...first.items, ...made, result] });
    const sent = JSON.stringify(upstream.requests[1]?.body["messages"]);
    assert.match(sent, /"tool_plan":"I will look\."/);
  });

  it("costs the billed tokens", async () => {
    const usage = { input: 1000, cached: 900, output: 40 };
    const engine = script(reply.text("Hi.", { usage }));
    await using upstream = await startCohereUpstream({ engine });
    const end = (await eventsOf(over(upstream), request())).at(-1);
    const counted = end?.type === "end" ? end.usage : assert.fail();
    const command = findModel("cohere", "command-a-03-2025");
    assert.equal(costOf(command, counted), (100 * 2.5 + 40 * 10) / 1e6);
  });
});

describe("a scripted cohere server", () => {
  const user = { role: "user", content: "Hi" };
  const good = { model: "command-a-03-2025", messages: [user], stream: true };
  const call = { id: "a", type: "function", function: { name: "read", arguments: "{}" } };
  const asked = { role: "assistant", tool_calls: [call] };
  const answered = { role: "tool", tool_call_id: "a", content: "x" };
  const parameters = { type: "object", properties: {} };
  const tools = [{ type: "function", function: { name: "read", parameters } }];
  const json = { type: "json_object" };
  const REFUSED: readonly [status: number, body: object, words: RegExp][] = [
    [422, { ...good, user: "u" }, /parameter 'user' is not a valid field/],
    [422, { ...good, messages: [{ ...user, name: "n" }] }, /parameter 'name'/],
    [400, { ...good, model: undefined }, /model parameter is required/],
    [400, { ...good, messages: [] }, /at least one message/],
    [400, { ...good, messages: [user, { role: "system", content: "s" }] }, /must be the first/],
    [400, { ...good, messages: [{ role: "user", content: "" }] }, /must not be empty/],
    [400, { ...good, messages: [user, { role: "assistant", content: "a" }] }, /last message/],
    [400, { ...good, messages: [user, asked, user] }, /followed by its tool message/],
    [400, { ...good, messages: [user, answered] }, /not found in the tool calls/],
    [400, { ...good, p: 1 }, /p must be between 0.01 and 0.99/],
    [400, { ...good, temperature: 3 }, /temperature must be between 0 and 2/],
    [400, { ...good, frequency_penalty: 0.1, presence_penalty: 0.1 }, /cannot specify both/],
    [400, { ...good, stop_sequences: ["1", "2", "3", "4", "5", "6"] }, /at most 5/],
    [400, { ...good, tool_choice: "REQUIRED" }, /when tools are provided/],
    [400, { ...good, tools, tool_choice: "auto" }, /must be one of: REQUIRED, NONE/],
    [400, { ...good, tools, strict_tools: true }, /at least one required parameter/],
    [400, { ...good, tools, response_format: json }, /not supported with RAG/],
    [400, { ...good, response_format: { ...json, json_schema: parameters } }, /required field/],
    [400, { ...good, thinking: { type: "enabled", token_budget: 0 } }, /positive integer/],
    [400, { ...good, documents: [] }, /documents must not be empty/],
  ];

  for (const [status, body, words] of REFUSED) {
    it(`refuses a request: ${words.source}`, async () => {
      await using upstream = await startCohereUpstream({ engine: script() });
      const answer = await fetch(`${upstream.url}/chat`, {
        method: "POST",
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, status);
      const { message } = (await answer.json()) as { message: string };
      assert.match(message, words);
    });
  }

  it("sends the events of the real one, in their order", async () => {
    const calls = reply.calls([{ name: "read", arguments: {} }]);
    const engine = script(reply.reasoning("Hm.", calls));
    await using upstream = await startCohereUpstream({ engine });
    const answer = await fetch(`${upstream.url}/chat`, {
      method: "POST",
      body: JSON.stringify({ ...good, tools }),
    });
    const body = await answer.text();
    assert.deepEqual(
      [...body.matchAll(/^event: (.*)$/gm)].map(([, event]) => event),
      [
        ...["message-start", "content-start", "content-delta", "content-end"],
        ...["tool-call-start", "tool-call-delta", "tool-call-end", "message-end"],
      ],
    );
    assert.match(body, /"billed_units":\{"input_tokens":\d+,"output_tokens":\d+\}/);
    assert.ok(body.endsWith("data: [DONE]\n\n"));
  });
});
