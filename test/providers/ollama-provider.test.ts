import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import {
  createHttpProvider,
  type HttpProviderOptions,
} from "../../src/providers/http/http-provider.ts";
import { createTransport } from "../../src/providers/http/transport.ts";
import { ollamaWire } from "../../src/providers/ollama/wire.ts";
import type { Provider } from "../../src/providers/provider.ts";
import type { Quirks } from "../../src/providers/wire.ts";
import type { Upstream } from "../../src/testing/loopback.ts";
import { startOllamaUpstream } from "../../src/testing/ollama-upstream.ts";
import { reply } from "../../src/testing/reply.ts";
import { script } from "../../src/testing/script.ts";
import { PATIENT_TIMEOUTS, patience } from "../patience.ts";
import { eventsOf, request, textOf } from "./provider-contract.ts";

const transport = createTransport({});
const upstreams: Upstream[] = [];

const over = (upstream: Upstream, more: Partial<HttpProviderOptions> = {}): Provider =>
  createHttpProvider({
    vendor: "ollama",
    wire: ollamaWire,
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

describe("the ollama provider", () => {
  const think = { effort: "high", summary: undefined } as const;

  it("retries without thinking if a model cannot think, and reports it", async () => {
    await using upstream = await startOllamaUpstream({ engine: script(reply.text("Hi.")) });
    const notices: string[] = [];
    const asked = request({ model: "plain-model", reasoning: think });
    const call = { signal: patience(), notice: note };
    let text = "";
    for await (const batch of over(upstream).stream(asked, call)) text += textOf(batch);
    assert.equal(text, "Hi.");
    assert.deepEqual(
      upstream.requests.map(({ body }) => body["think"]),
      ["high", undefined],
    );
    assert.deepEqual(notices, ["replay"]);

    function note({ code }: { code: string }): void {
      notices.push(code);
    }
  });

  it("reports a missing model", async () => {
    await using upstream = await startOllamaUpstream({ engine: script() });
    await assert.rejects(eventsOf(over(upstream), request({ model: "qwen9" })), {
      code: "model_not_found",
      message: /^ollama answered 404: model 'qwen9' not found\./,
    });
    assert.equal(upstream.requests.length, 1);
  });

  it("reports that a model does not support tools", async () => {
    await using upstream = await startOllamaUpstream({ engine: script() });
    const tools = [{ type: "function" as const, name: "read" }];
    await assert.rejects(eventsOf(over(upstream), request({ model: "plain-model", tools })), {
      code: "provider_rejected",
      message: /does not support tools/,
    });
  });

  it("reads an answer that was not streamed", async () => {
    const message = { role: "assistant", content: "Whole." };
    const body = { model: "m", message, done: true, done_reason: "stop" };
    const whole = script(reply.status(200, body, { "content-type": "application/json" }));
    await using upstream = await startOllamaUpstream({ engine: whole });
    assert.equal(textOf(await eventsOf(over(upstream), request())), "Whole.");
  });

  it("keeps the model in memory as long as configured", async () => {
    await using upstream = await startOllamaUpstream({ engine: script(reply.text("Hi.")) });
    const quirks: Quirks = { keepAlive: -1 };
    await eventsOf(over(upstream, { quirks }), request());
    assert.equal(upstream.requests[0]?.body["keep_alive"], -1);
  });
});
