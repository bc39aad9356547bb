import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { seal } from "../../../src/protocol/sealed-reasoning.ts";
import { encodeRequest } from "../../../src/providers/messages/encode.ts";
import { vertexWire } from "../../../src/providers/messages/vertex.ts";
import { messagesWire } from "../../../src/providers/messages/wire.ts";
import type { ModelRequest, ReasoningOptions } from "../../../src/providers/provider.ts";
import { request } from "../provider-contract.ts";

const think = (effort: ReasoningOptions["effort"], summary?: "auto"): ReasoningOptions => ({
  effort,
  summary,
});

/** `thinking`, the effort and the limit that are sent to a model. */
function limitsOf(model: string, reasoning: ReasoningOptions, more: Partial<ModelRequest> = {}) {
  const body = encodeRequest(request({ model, reasoning, ...more }), {});
  const { effort } = (body["output_config"] ?? {}) as JsonObject;
  return [body["thinking"], effort, body["max_tokens"]];
}

const ADAPTIVE = { type: "adaptive" };
const budget = (budget_tokens: number) => ({ type: "enabled", budget_tokens });

describe("thinking, in the form of each model", () => {
  const high: readonly [model: string, thinking: object | undefined, effort: string | undefined][] =
    [
      ["claude-opus-5-5", ADAPTIVE, "high"],
      ["claude-sonnet-5", ADAPTIVE, "high"],
      ["claude-fable-5-1", ADAPTIVE, "high"],
      ["claude-something-new-9", ADAPTIVE, "high"],
      ["claude-opus-4-8", ADAPTIVE, "high"],
      ["claude-sonnet-4-6", ADAPTIVE, "high"],
      ["claude-opus-4-5-20251101", budget(20_480), "high"],
      ["claude-sonnet-4-5@20250929", budget(20_480), undefined],
      ["claude-opus-4-20250514", budget(20_480), undefined],
      ["claude-3-7-sonnet-20250219", budget(20_480), undefined],
      ["claude-3-5-haiku-20241022", undefined, undefined],
      ["kimi-k3", budget(20_480), undefined],
    ];
  for (const [model, thinking, effort] of high) {
    it(`is requested from ${model}`, () => {
      assert.deepEqual(limitsOf(model, think("high")).slice(0, 2), [thinking, effort]);
    });
  }

  const none: readonly [model: string, thinking: object | undefined, effort: string | undefined][] =
    [
      ["claude-opus-5-5", undefined, "low"],
      ["claude-fable-5", undefined, "low"],
      ["claude-mythos-preview", undefined, "low"],
      ["claude-sonnet-5-5", { type: "between_tools" }, undefined],
      ["claude-haiku-5-5", { type: "disabled" }, undefined],
      ["claude-opus-5", { type: "disabled" }, undefined],
      ["claude-opus-4-8", undefined, undefined],
      ["claude-haiku-4-5", undefined, undefined],
      ["claude-3-5-haiku-20241022", undefined, undefined],
      ["glm-6", { type: "disabled" }, undefined],
    ];
  for (const [model, thinking, effort] of none) {
    it(`is turned off, or down, for ${model}`, () => {
      assert.deepEqual(limitsOf(model, think("none")).slice(0, 2), [thinking, effort]);
    });
  }

  it("is left to the model if the request does not mention it", () => {
    for (const model of ["claude-opus-5", "claude-opus-4-8", "claude-haiku-4-5"]) {
      assert.deepEqual(limitsOf(model, think(undefined)).slice(0, 2), [undefined, undefined]);
    }
  });

  it("is shown if a summary is requested, for models that otherwise hide it", () => {
    const shown = { type: "adaptive", display: "summarized" };
    assert.deepEqual(limitsOf("claude-opus-5", think("low", "auto"))[0], shown);
    assert.deepEqual(limitsOf("claude-opus-5", think(undefined, "auto"))[0], shown);
  });

  it("is requested with the nearest effort that the model knows", () => {
    const efforts = (model: string) =>
      (["minimal", "xhigh", "max"] as const).map((effort) => limitsOf(model, think(effort))[1]);
    assert.deepEqual(efforts("claude-opus-4-7"), ["low", "xhigh", "max"]);
    assert.deepEqual(efforts("claude-opus-4-6"), ["low", "high", "max"]);
    assert.deepEqual(efforts("claude-opus-4-5"), ["low", "high", "high"]);
  });

  it("follows the vendor's row if the name does not say it", () => {
    const asked = request({ model: "my-alias", reasoning: think("high") });
    assert.deepEqual(encodeRequest(asked, { thinking: "adaptive" })["thinking"], ADAPTIVE);
    assert.ok(!("thinking" in encodeRequest(asked, { thinking: "none" })));
  });

  it("leaves sampling to the model", () => {
    const asked = request({ model: "claude-opus-4-6", temperature: 0.5, reasoning: think("low") });
    assert.ok(!("temperature" in encodeRequest(asked, {})));
  });
});

describe("the limit of an answer", () => {
  it("is the caller's, with the budget for thinking below it", () => {
    const limited = (max_output_tokens: number) =>
      limitsOf("claude-haiku-4-5", think("high"), { max_output_tokens });
    assert.deepEqual(limited(4000), [budget(3000), undefined, 4000]);
    assert.deepEqual(limited(1000), [undefined, undefined, 1000]);
  });

  it("has room for the thinking, and is never more than the model accepts", () => {
    assert.equal(limitsOf("claude-haiku-4-5", think("none"))[2], 32_000);
    assert.equal(limitsOf("claude-haiku-4-5", think("high"))[2], 52_480);
    assert.equal(limitsOf("claude-opus-4-1", think("max"))[2], 32_000);
    assert.equal(limitsOf("claude-opus-5-5", think("max"))[2], 64_000);
    assert.equal(limitsOf("claude-3-opus-20240229", think("none"))[2], 4096);
  });
});

describe("a budget for thinking", () => {
  const call: Item = { type: "function_call", call_id: "a", name: "read", arguments: "{}" };
  const output: Item = { type: "function_call_output", call_id: "a", output: "1" };
  const block = { type: "thinking", thinking: "Hm.", signature: "s" };
  const encrypted_content = seal("messages", block);
  const thought: Item = { type: "reasoning", summary: [], encrypted_content };
  const thinkingIn = (...items: readonly Item[]) =>
    limitsOf("claude-sonnet-4-5", think("high"), {
      items: [{ type: "message", role: "user", content: "Go" }, ...items],
    })[0];

  it("is set if the current calls began with thinking", () => {
    assert.deepEqual(thinkingIn(thought, call, output), budget(20_480));
  });

  it("is not set in the middle of another model's turn, which the API refuses", () => {
    assert.equal(thinkingIn(call, output), undefined);
  });

  it("is set again in the next turn", () => {
    const next: Item = { type: "message", role: "user", content: "And?" };
    const said: Item = { type: "message", role: "assistant", content: "Done." };
    assert.deepEqual(thinkingIn(call, output, said, next), budget(20_480));
  });

  it("is not set if a call is forced, which the API refuses", () => {
    const tools = [{ type: "function" as const, name: "read" }];
    const forced = { tools, tool_choice: "required" as const };
    assert.equal(limitsOf("claude-sonnet-4-5", think("high"), forced)[0], undefined);
  });
});

describe("headers and address of the Messages API", () => {
  const headersOf = (more: Partial<ModelRequest>) =>
    messagesWire.headers?.(request({ model: "claude-sonnet-4-5", ...more }), {});
  const tools = [{ type: "function" as const, name: "read" }];

  it("name the version, and no feature that is not used", () => {
    assert.deepEqual(headersOf({ tools }), { "anthropic-version": "2023-06-01" });
  });

  it("name the features that the request needs", () => {
    const compaction = { type: "anthropic:compaction", id: "x", block: { type: "compaction" } };
    const file = { type: "input_file" as const, file_id: "f1" };
    const headers = headersOf({
      tools,
      reasoning: think("high"),
      items: [{ type: "message", role: "user", content: [file] }, compaction as unknown as Item],
    });
    assert.equal(
      headers?.["anthropic-beta"],
      "interleaved-thinking-2025-05-14,files-api-2025-04-14,compact-2026-01-12",
    );
  });

  it("do not ask for interleaving if the model does it by itself, or cannot", () => {
    for (const model of ["claude-opus-4-6", "claude-3-7-sonnet-20250219", "kimi-k3"]) {
      const headers = headersOf({ model, tools, reasoning: think("high") });
      assert.ok(!("anthropic-beta" in (headers ?? {})), model);
    }
  });

  it("are Google's at Google Cloud: the model in the path, the version in the body", () => {
    const asked = request({ model: "claude-sonnet-4-5@20250929" });
    assert.equal(
      vertexWire.path(asked),
      "/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict",
    );
    const body = vertexWire.encode(asked, {});
    assert.deepEqual([body["anthropic_version"], "model" in body], ["vertex-2023-10-16", false]);
    assert.deepEqual(vertexWire.headers?.(asked, {}), {});
  });
});
