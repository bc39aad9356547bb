/** Reasoning of models whose maker is not Anthropic: plain text, which is sent back between tool calls. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { bedrockWire } from "../../../src/providers/bedrock/wire.ts";
import { createHttpProvider } from "../../../src/providers/http/http-provider.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import { reply, script, startBedrockUpstream } from "../../../src/testing/index.ts";
import { PATIENT_TIMEOUTS } from "../../patience.ts";
import { eventsOf, request } from "../provider-contract.ts";
import { itemsOf } from "../streams.ts";
import {
  assistant,
  CLAUDE,
  decodeFrames,
  encode,
  output,
  READ,
  result,
  toFrames,
  use,
  user,
} from "./converse.ts";

const GPT = "openai.gpt-oss-120b-1:0";
const THOUGHT = { reasoningContent: { reasoningText: { text: "I read it." } } };

const transport = createTransport({});
after(() => transport.close());

/** Reasoning and a call, as the model streams them. */
function thinkAndCall(model: string): Item[] {
  const start = { toolUse: { toolUseId: "a", name: "read" } };
  const thought: JsonObject = { reasoningContent: { text: "I read it." } };
  const events = [
    { contentBlockDelta: { contentBlockIndex: 0, delta: thought } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { contentBlockStart: { contentBlockIndex: 1, start } },
    { contentBlockStop: { contentBlockIndex: 1 } },
    { messageStop: { stopReason: "tool_use" } },
  ];
  return itemsOf(decodeFrames(toFrames(events), { model }));
}

const turnsOf = (model: string, items: readonly Item[]) =>
  encode({ model, items: [user("Hi"), ...items], tools: [READ] })
    .messages.slice(1)
    .map(({ content }) => content);

describe("reasoning on bedrock without a signature", () => {
  const makers = [GPT, "moonshot.kimi-k2-thinking", "qwen.qwen3-32b-v1:0", "minimax.minimax-m2"];
  for (const model of [...makers, "deepseek.v3-v1:0"]) {
    it(`is sent back with the call after it: ${model}`, () => {
      assert.deepEqual(turnsOf(model, [...thinkAndCall(model), output("a", "1")]), [
        [THOUGHT, use("a")],
        [result("a", "1")],
      ]);
    });
  }

  for (const model of [
    CLAUDE,
    "us.amazon.nova-2-lite-v1:0",
    "us.deepseek.r1-v1:0",
    "own-profile",
  ]) {
    it(`is not sent to models that refuse it: ${model}`, () => {
      assert.deepEqual(turnsOf(model, [...thinkAndCall(model), output("a", "1")])[0], [use("a")]);
    });
  }

  it("is left out after the user's next message, and for models of other makers", () => {
    const items = [...thinkAndCall(GPT), output("a", "1")];
    assert.deepEqual(turnsOf("qwen.qwen3-32b-v1:0", items)[0], [use("a")]);
    assert.deepEqual(turnsOf(GPT, [...items, assistant("Done."), user("More?")])[0], [use("a")]);
  });

  it("is dropped if the service refuses it", () => {
    const items = [user("Hi"), ...thinkAndCall(GPT), output("a", "1")];
    const asked = request({ model: GPT, items, tools: [READ] });
    const refused = (message: string) => new Failure("provider_rejected", message);
    const mended = bedrockWire.recover?.(asked, refused("reasoningContent is not supported"));
    assert.deepEqual(
      mended?.items.map(({ type }) => type),
      ["message", "function_call", "function_call_output"],
    );
    assert.equal(bedrockWire.recover?.(asked, refused("The model is on holiday")), undefined);
  });

  it("makes the round trip", async () => {
    const calls = reply.calls([{ name: "read", arguments: {} }]);
    const engine = script(reply.reasoning("I read it.", calls), reply.text("Done."));
    await using upstream = await startBedrockUpstream({ engine });
    const provider = createHttpProvider({
      vendor: "bedrock",
      wire: bedrockWire,
      baseUrl: upstream.url,
      headers: {},
      quirks: {},
      transport,
      timeouts: PATIENT_TIMEOUTS,
      retry: { attempts: 1, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 },
    });
    const asked = { model: GPT, tools: [READ], items: [user("Hi")] };
    const items = itemsOf(await eventsOf(provider, request(asked)));
    const call = items.find((item) => item.type === "function_call");
    const outputs = [output(call?.call_id ?? "", "1")];
    const next = { ...asked, items: [user("Hi"), ...items, ...outputs] };
    await eventsOf(provider, request(next));
    assert.match(JSON.stringify(upstream.requests.at(-1)?.body), /"reasoningText":\{"text":"I re/);
  });
});
