import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { FunctionCall, Item } from "../../src/protocol/items.ts";
import { geminiWire } from "../../src/providers/gemini/wire.ts";
import {
  createHttpProvider,
  type HttpProviderOptions,
} from "../../src/providers/http/http-provider.ts";
import { createTransport } from "../../src/providers/http/transport.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { startGeminiUpstream } from "../../src/testing/gemini-upstream.ts";
import type { Upstream } from "../../src/testing/loopback.ts";
import { reply } from "../../src/testing/reply.ts";
import { script } from "../../src/testing/script.ts";
import { PATIENT_TIMEOUTS } from "../patience.ts";
import { eventsOf, request, textOf } from "./provider-contract.ts";
import { endOf, itemsOf } from "./streams.ts";

const transport = createTransport({});
const upstreams: Upstream[] = [];

const over = (upstream: Upstream, more: Partial<HttpProviderOptions> = {}): Provider =>
  createHttpProvider({
    vendor: "gemini",
    wire: geminiWire,
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

const READ = {
  type: "function" as const,
  name: "read",
  parameters: { type: "object", properties: { path: { type: "string" } } },
};

const USER: Item = { type: "message", role: "user", content: "Read both." };

/** The next request: the answer, and a result for each of its calls. */
function withResults(asked: ModelRequest, output: readonly Item[]): ModelRequest {
  const calls = output.filter((item): item is FunctionCall => item.type === "function_call");
  const results = calls.map(
    ({ call_id }): Item => ({ type: "function_call_output", call_id, output: "text" }),
  );
  return { ...asked, items: [...asked.items, ...output, ...results] };
}

describe("the gemini provider", () => {
  const CALLS = reply.calls([
    { name: "read", arguments: { path: "a" } },
    { name: "read", arguments: { path: "b" } },
  ]);

  for (const model of ["gemini-2.5-flash", "gemini-3.1-pro-preview", "gemini-4-argon"]) {
    it(`sends signatures back through two steps and a new turn: ${model}`, async () => {
      const thinking = reply.reasoning("Hm.", CALLS);
      const answer = reply.text("Both read.");
      await using upstream = await startGeminiUpstream({
        engine: script(thinking, thinking, answer, reply.text("Bye.")),
      });
      const provider = over(upstream);
      const reasoning = { effort: "high", summary: "auto" } as const;
      let asked = request({ model, items: [USER], tools: [READ], reasoning });
      for (let step = 0; step < 2; step++) {
        asked = withResults(asked, itemsOf(await eventsOf(provider, asked)));
      }
      const answered = itemsOf(await eventsOf(provider, asked));
      const bye: Item = { type: "message", role: "user", content: "Thanks." };
      const last = { ...asked, items: [...asked.items, ...answered, bye] };
      assert.equal(textOf(await eventsOf(provider, last)), "Bye.");
      // No request was refused and sent again.
      assert.equal(upstream.requests.length, 4);
      const signatures = upstream.requests[3]?.text.match(/"thoughtSignature"/g) ?? [];
      assert.equal(signatures.length, model.startsWith("gemini-2") ? 2 : 3);
    });
  }

  it("continues with calls of another model", async () => {
    await using upstream = await startGeminiUpstream({ engine: script(reply.text("Done.")) });
    const foreign: Item[] = [
      { type: "reasoning", summary: [], encrypted_content: "sealed.anthropic.e30" },
      { type: "function_call", call_id: "toolu_1", name: "read", arguments: '{"path":"a"}' },
      { type: "function_call", call_id: "toolu_2", name: "read", arguments: '{"path":"b"}' },
      { type: "function_call_output", call_id: "toolu_2", output: "B" },
      { type: "function_call_output", call_id: "toolu_1", output: "A" },
    ];
    const asked = request({ model: "gemini-3-flash", items: [USER, ...foreign], tools: [READ] });
    assert.equal(textOf(await eventsOf(over(upstream), asked)), "Done.");
    assert.equal(upstream.requests.length, 1);
  });

  it("leaves out another server's signatures after they were refused", async () => {
    await using first = await startGeminiUpstream({ engine: script(CALLS) });
    await using second = await startGeminiUpstream({ engine: script(reply.text("Done.")) });
    const asked = request({ model: "gemini-3-flash", items: [USER], tools: [READ] });
    const output = itemsOf(await eventsOf(over(first), asked));
    const next = withResults(asked, output);
    assert.equal(textOf(await eventsOf(over(second), next)), "Done.");
    assert.equal(second.requests.length, 2);
  });

  it("asks in the instructions for what an older model cannot enforce together with functions", async () => {
    await using upstream = await startGeminiUpstream({ engine: script(reply.text('{"a":1}')) });
    const schema = { type: "object", properties: { a: { type: "number" } } };
    const format = { type: "json_schema", name: "out", schema, strict: true } as const;
    const asked = request({ model: "gemini-2.5-pro", tools: [READ], format });
    assert.equal(textOf(await eventsOf(over(upstream), asked)), '{"a":1}');
    const sent: JsonObject = upstream.requests[1]?.body ?? {};
    assert.match(JSON.stringify(sent["systemInstruction"]), /JSON schema/);
    assert.doesNotMatch(JSON.stringify(sent["generationConfig"]), /json/i);
  });

  it("continues a long answer where it paused", async () => {
    const paused = { ...reply.text("Once upon "), ending: "pause" } as const;
    await using upstream = await startGeminiUpstream({
      engine: script(paused, paused, reply.text("a time.")),
    });
    const provider = over(upstream);
    const asked = request({ model: "gemini-4-argon" });
    const items = [...asked.items];
    let text = "";
    for (let reason = "pause"; reason === "pause"; ) {
      const events = await eventsOf(provider, { ...asked, items });
      text += textOf(events);
      items.push(...itemsOf(events));
      reason = endOf(events).reason;
    }
    assert.equal(text, "Once upon Once upon a time.");
    const sent = upstream.requests.map(({ body }) => JSON.stringify(body["contents"]));
    assert.deepEqual(new Set(sent).size, 1, "the same request each time");
    assert.ok(upstream.requests[2]?.body["continuationToken"]);
  });

  it("asks again if the model wrote a call that its server could not read", async () => {
    const broken = reply.calls([{ name: "read", arguments: '{"path":' }]);
    await using upstream = await startGeminiUpstream({ engine: script(broken, reply.text("Ok.")) });
    const asked = request({ tools: [READ] });
    assert.equal(textOf(await eventsOf(over(upstream), asked)), "Ok.");
    assert.equal(upstream.requests.length, 2);
  });

  it("reads an answer that was not streamed as events", async () => {
    await using upstream = await startGeminiUpstream({ engine: script(reply.text("Whole.")) });
    const wire = { ...geminiWire, path: () => "/models/m:streamGenerateContent" };
    assert.equal(textOf(await eventsOf(over(upstream, { wire }), request())), "Whole.");
  });
});
