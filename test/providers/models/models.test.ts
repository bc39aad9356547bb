import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addUsage, toUsage } from "../../../src/protocol/usage.ts";
import { MODELS } from "../../../src/providers/models/model-table.ts";
import {
  costOf,
  dropRefused,
  findModel,
  vendorsOfModel,
} from "../../../src/providers/models/models.ts";
import {
  type ModelRequest,
  type ReasoningOptions,
  TEXT_FORMAT,
} from "../../../src/providers/provider.ts";
import { isVendor, VENDOR_NAMES, vendorOf } from "../../../src/providers/vendors/catalog.ts";

const request = (asked: Partial<ModelRequest>): ModelRequest => ({
  model: "any",
  instructions: undefined,
  items: [],
  tools: [],
  tool_choice: "auto",
  parallel_tool_calls: undefined,
  temperature: undefined,
  top_p: undefined,
  max_output_tokens: undefined,
  reasoning: { effort: undefined, summary: undefined },
  format: TEXT_FORMAT,
  previous: undefined,
  ...asked,
});

const effort = (value: ReasoningOptions["effort"]): Pick<ModelRequest, "reasoning"> => ({
  reasoning: { effort: value, summary: undefined },
});

const isLocal = (vendor: string) =>
  vendor === "embedded" || (isVendor(vendor) && vendorOf(vendor).local);

describe("the model table", () => {
  it("names vendors that exist, and no model twice", () => {
    const keys = MODELS.map(({ vendor, name }) => `${vendor}/${name}`);
    assert.equal(new Set(keys).size, keys.length);
    for (const { vendor } of MODELS) assert.ok(isVendor(vendor) || vendor === "embedded", vendor);
  });

  it("prices and sizes of the model table are plausible", () => {
    for (const { name, price, contextTokens, maxOutputTokens } of MODELS) {
      if (price) assert.ok(price.output >= price.input, name);
      if (price?.cached !== undefined) assert.ok(price.cached <= price.input, name);
      if (contextTokens && maxOutputTokens) assert.ok(maxOutputTokens <= contextTokens, name);
    }
  });

  it("is free only for models on the user's own machine", () => {
    for (const { vendor, name, price } of MODELS) {
      if (!price || isLocal(vendor)) continue;
      const { input, cached = input, cacheWrite = input, output, long } = price;
      for (const usd of [input, cached, output]) assert.ok(usd > 0, `${vendor}/${name}`);
      assert.ok(cacheWrite >= input, `${vendor}/${name}`);
      if (long) assert.ok(long.inputFactor >= 1 && long.outputFactor >= 1, `${vendor}/${name}`);
    }
  });

  it("gives a family no size and no price, which each model has itself", () => {
    const families = MODELS.filter(({ vendor, name }) => name.endsWith("*") && !isLocal(vendor));
    assert.ok(families.length > 0);
    for (const { name, price, contextTokens, maxOutputTokens } of families) {
      assert.equal(price ?? contextTokens ?? maxOutputTokens, undefined, name);
    }
  });

  it("knows the default model of the large vendors", () => {
    const large = [
      "openai",
      "anthropic",
      "gemini",
      "groq",
      "together",
      "mistral",
      "deepseek",
      "xai",
    ];
    for (const vendor of VENDOR_NAMES) {
      if (!large.includes(vendor)) continue;
      const { defaultModel } = vendorOf(vendor);
      assert.ok(vendorsOfModel(defaultModel ?? "").includes(vendor), vendor);
    }
  });
});

describe("findModel", () => {
  it("prefers the exact row to its family, and uses the family for the next model", () => {
    assert.equal(findModel("openai", "gpt-5-mini").price?.input, 0.25);
    assert.equal(findModel("openai", "gpt-5.9-nova").price, undefined);
    assert.ok(findModel("openai", "gpt-5.9-nova").refuses.includes("sampling_while_reasoning"));
  });

  it("takes a dated snapshot for its model, unless it has a row of its own", () => {
    assert.equal(findModel("openai", "gpt-5-mini-2025-08-07").price?.input, 0.25);
    assert.equal(findModel("openai", "gpt-4o-2024-05-13").price?.input, 5);
    assert.equal(findModel("openai", "gpt-4o-2024-11-20").price?.input, 2.5);
  });

  for (const [vendor, name] of [
    ["anthropic", "claude-haiku-4-5-20251001"],
    ["vertexai", "claude-haiku-4-5@20251001"],
    ["vertexai", "claude-haiku-4-5"],
    ["bedrock", "global.anthropic.claude-haiku-4-5-20251001-v1:0"],
  ] as const) {
    it(`knows the same Claude as ${vendor}/${name}`, () => {
      const model = findModel(vendor, name);
      assert.deepEqual(model, { ...findModel("anthropic", "claude-haiku-4-5"), vendor, name });
      assert.equal(model.price?.cacheWrite, 1.25);
    });
  }

  it("charges a tenth more for Claude in a group of Amazon's regions, and guesses no other price", () => {
    assert.deepEqual(findModel("bedrock", "eu.anthropic.claude-opus-5-5").price, {
      input: 4.4,
      cached: 0.22,
      cacheWrite: 5.5,
      output: 22,
    });
    assert.equal(findModel("bedrock", "global.anthropic.claude-opus-5-5").price?.input, 4);
    assert.equal(findModel("bedrock", "anthropic.claude-opus-5-5").price, undefined);
    assert.equal(findModel("bedrock", "anthropic.claude-opus-5-5").contextTokens, 1_000_000);
  });

  it("takes a model that several vendors have for its maker's", () => {
    assert.equal(vendorsOfModel("claude-opus-5-5")[0], "anthropic");
    assert.equal(vendorsOfModel("gemini-2.5-pro")[0], "gemini");
  });

  it("has the same facts for Gemini on both of Google's services", () => {
    for (const name of ["gemini-3.1-pro-preview", "gemini-2.5-pro", "gemini-4-argon"]) {
      const here = findModel("gemini", name);
      assert.deepEqual(findModel("vertex", name), { ...here, vendor: "vertex" });
      assert.equal(here.contextTokens, 1_048_576);
    }
  });

  it("assumes every ability for an unknown model, and no price", () => {
    const { price, tools, vision, refuses, name } = findModel("custom", "mine");
    assert.deepEqual(
      { price, tools, vision, refuses, name },
      { price: undefined, tools: true, vision: true, refuses: [], name: "mine" },
    );
  });

  it("calls a local server's models free", () => {
    assert.equal(costOf(findModel("ollama", "qwen3:8b"), toUsage({ input: 9, output: 9 })), 0);
  });

  it("knows a reseller's models by their maker, without the maker's price", () => {
    for (const model of [findModel("openrouter", "openai/gpt-5"), findModel("azure", "gpt-5")]) {
      assert.equal(model.contextTokens, 400_000);
      assert.equal(model.price, undefined);
    }
  });

  it("merges a user's overrides into the row, the longest match last", () => {
    const model = findModel("openai", "gpt-5-mini", [
      { vendor: "openai", name: "gpt-5-mini", contextTokens: 1 },
      { vendor: "openai", name: "gpt-5*", contextTokens: 2, refuses: [] },
      { vendor: "xai", name: "gpt-5-mini", contextTokens: 3 },
    ]);
    assert.equal(model.contextTokens, 1);
    assert.deepEqual(model.refuses, []);
    assert.equal(model.price?.input, 0.25);
    assert.equal(model.name, "gpt-5-mini");
  });
});

describe("costOf", () => {
  const sol = findModel("openai", "gpt-6-sol");

  it("prices plain, cached and written input each by its own rate", () => {
    const usage = toUsage({ input: 1000, cached: 400, cacheWrite: 100, output: 200 });
    const dollars = (500 * 2 + 400 * 0.2 + 100 * 2.5 + 200 * 10) / 1e6;
    assert.equal(costOf(sol, usage)?.toFixed(9), dollars.toFixed(9));
  });

  it("prices what is cached for an hour at twice the input", () => {
    const sonnet = findModel("anthropic", "claude-sonnet-4-5");
    const usage = toUsage({ input: 1000, cacheWrite: 600, cacheWriteHour: 400 });
    const dollars = (400 * 3 + 200 * 3.75 + 400 * 6) / 1e6;
    assert.equal(costOf(sonnet, usage)?.toFixed(9), dollars.toFixed(9));
    assert.equal(costOf(sonnet, addUsage(usage, usage))?.toFixed(9), (2 * dollars).toFixed(9));
  });

  it("prices a whole long request higher", () => {
    const below = costOf(sol, toUsage({ input: 272_000, output: 10 })) ?? 0;
    const above = costOf(sol, toUsage({ input: 272_001, output: 10 })) ?? 0;
    assert.equal(below.toFixed(6), "0.544100");
    assert.equal(above.toFixed(6), "1.088154");
  });

  it("prices Claude Haiku 5.5 five times higher above 100,000 tokens, the cache as well", () => {
    const haiku = findModel("anthropic", "claude-haiku-5-5");
    const cost = (input: number) =>
      costOf(haiku, toUsage({ input, cached: 50_000, cacheWrite: 10_000, output: 1000 })) ?? 0;
    assert.equal(cost(100_000).toFixed(6), "0.006250");
    assert.equal(cost(100_001).toFixed(6), "0.031251");
  });

  it("charges cached input like input if there is no discount", () => {
    const pro = findModel("openai", "o3-pro");
    assert.equal(costOf(pro, toUsage({ input: 1e6, cached: 1e6 })), 20);
  });

  it("charges nothing for calls that the vendor does not bill, in one answer and in many", () => {
    const command = findModel("cohere", "command-r-08-2024");
    const counts = { input: 1400, cached: 1360, unbilledInput: 1392, output: 60 };
    const usage = toUsage({ ...counts, unbilledOutput: 4 });
    const dollars = (8 * 0.15 + 56 * 0.6) / 1e6;
    assert.equal(costOf(command, usage)?.toFixed(12), dollars.toFixed(12));
    assert.equal(costOf(command, addUsage(usage, usage))?.toFixed(12), (2 * dollars).toFixed(12));
    const price = { input: 1, cached: 0.1, output: 1 };
    const own = findModel("cohere", "command-r-08-2024", [{ ...command, price }]);
    assert.ok(
      (costOf(own, usage) ?? -1) >= 0,
      "a price of one's own never makes it less than none",
    );
  });

  it("does not call an unknown price free", () => {
    assert.equal(costOf(findModel("custom", "mine"), toUsage({ input: 1 })), undefined);
  });
});

describe("dropRefused", () => {
  const after = (name: string, asked: Partial<ModelRequest>) => {
    const { request: sent, dropped } = dropRefused(findModel("openai", name), request(asked));
    const { temperature, top_p, parallel_tool_calls, reasoning } = sent;
    return { temperature, top_p, parallel_tool_calls, effort: reasoning.effort, dropped };
  };
  const nothing = { temperature: undefined, top_p: undefined, parallel_tool_calls: undefined };

  for (const name of ["o1", "o3", "o4-mini", "gpt-5", "gpt-5-2025-08-07", "gpt-6.1-sol"]) {
    it(`sends ${name} neither an effort of none nor a temperature`, () => {
      assert.deepEqual(after(name, { ...effort("none"), temperature: 0.8, top_p: 0.9 }), {
        ...nothing,
        effort: undefined,
        dropped: ["effort:none", "temperature", "top_p"],
      });
    });
  }

  for (const name of ["gpt-5.1", "gpt-5.2", "gpt-5.4-mini", "gpt-5.6-luna", "gpt-6-sol"]) {
    it(`sends ${name} a temperature only if it does not think`, () => {
      assert.deepEqual(after(name, { ...effort("none"), temperature: 0.8 }), {
        ...nothing,
        temperature: 0.8,
        effort: "none",
        dropped: [],
      });
      assert.deepEqual(after(name, { ...effort("high"), temperature: 0.8 }), {
        ...nothing,
        effort: "high",
        dropped: ["temperature"],
      });
      assert.deepEqual(after(name, { temperature: 0.8 }).dropped, ["temperature"]);
    });
  }

  for (const name of ["gpt-4o", "gpt-4.1", "gpt-4o-mini-2024-07-18", "gpt-5-chat-latest"]) {
    it(`leaves reasoning out entirely for ${name} and keeps the temperature`, () => {
      assert.deepEqual(after(name, { ...effort("none"), temperature: 0.8 }), {
        ...nothing,
        temperature: 0.8,
        effort: undefined,
        dropped: ["reasoning"],
      });
      assert.deepEqual(after(name, {}).dropped, []);
    });
  }

  it("sends the nearest effort that a model accepts, instead of none", () => {
    assert.equal(after("gpt-5.1", effort("max")).effort, "high");
    assert.deepEqual(after("gpt-5.1", effort("max")).dropped, ["effort:max (sent as high)"]);
    assert.equal(after("gpt-6-sol", effort("minimal")).effort, "low");
    assert.equal(after("gpt-5-pro", effort("low")).effort, "high");
  });

  it("leaves parallel tool calls out for the o series", () => {
    assert.deepEqual(after("o3-mini", { parallel_tool_calls: false }).dropped, [
      "parallel_tool_calls",
    ]);
  });

  const options = { stop: ["x"], frequency_penalty: 1, top_logprobs: 2, verbosity: "low" } as const;
  const wishes: readonly [name: string, asked: Partial<ModelRequest>, lost: readonly string[]][] = [
    ["gpt-5", {}, ["stop", "frequency_penalty", "top_logprobs"]],
    ["gpt-5.2", effort("high"), ["stop", "frequency_penalty", "top_logprobs"]],
    ["gpt-5.2", effort("none"), ["stop", "frequency_penalty"]],
    ["gpt-4o", {}, ["text.verbosity"]],
    ["o3", {}, ["stop", "frequency_penalty", "top_logprobs", "text.verbosity"]],
  ];
  for (const [name, asked, lost] of wishes) {
    it(`leaves out of a request for ${name} (${JSON.stringify(asked)}): ${lost.join(", ")}`, () => {
      const whole = request({ ...asked, options });
      const kept = dropRefused(findModel("openai", name), whole);
      const names = kept.dropped.filter((word) => !/effort|reasoning/.test(word));
      assert.deepEqual(names, lost);
      assert.equal(kept.request.options?.stop, name === "gpt-4o" ? options.stop : undefined);
    });
  }

  const dropped = (vendor: string, name: string) => {
    const asked = { ...effort("none"), temperature: 0.5, top_p: 0.9 };
    return dropRefused(findModel(vendor, name), request(asked)).dropped;
  };

  for (const name of ["claude-opus-5-5", "claude-sonnet-5", "claude-opus-4-7", "claude-next-7"]) {
    it(`sends ${name} no temperature, and leaves the effort of none to the wire`, () => {
      assert.deepEqual(dropped("anthropic", name), ["temperature", "top_p"]);
      assert.deepEqual(dropped("vertexai", name), ["temperature", "top_p"]);
    });
  }

  for (const name of ["claude-opus-4-6", "claude-haiku-4-5", "claude-sonnet-4-20250514"]) {
    it(`sends ${name} a temperature`, () => {
      assert.deepEqual(dropped("anthropic", name), []);
      assert.deepEqual(dropped("bedrock", `us.anthropic.${name}`), []);
    });
  }

  it("does not turn thinking off for a Claude on Bedrock that always thinks", () => {
    const refused = ["effort:none", "temperature", "top_p"];
    assert.deepEqual(dropped("bedrock", "us.anthropic.claude-opus-5-5"), refused);
    assert.deepEqual(dropped("bedrock", "us.anthropic.claude-haiku-5-5"), refused.slice(1));
    assert.deepEqual(dropped("bedrock", "us.amazon.nova-pro-v1:0"), ["reasoning"]);
  });

  it("returns the same request if nothing is refused", () => {
    const asked = request({ temperature: 1, ...effort("high") });
    assert.equal(dropRefused(findModel("custom", "mine"), asked).request, asked);
  });

  it("can be switched off by an override", () => {
    const model = findModel("openai", "gpt-5", [{ vendor: "openai", name: "gpt-5", refuses: [] }]);
    assert.deepEqual(dropRefused(model, request({ temperature: 1 })).dropped, []);
  });
});
