import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import { checkNative, isNativeName } from "../../../src/agent/native-names.ts";
import { type ModelAnswer, toAmount } from "../../../src/agent/turn.ts";
import { checkAgentTools } from "../../../src/delegation/agents/agent-problems.ts";
import type { AgentDefinition } from "../../../src/delegation/agents/definition.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import { toUsage, type Usage } from "../../../src/protocol/usage.ts";
import { costOf, findModel } from "../../../src/providers/models/models.ts";
import { VENDOR_NAMES, vendorOf } from "../../../src/providers/vendors/catalog.ts";
import { createNativeModel } from "../../../src/providers/vendors/native-model.ts";
import { NATIVE_TOOLS } from "../../../src/providers/vendors/native-tools.ts";

const tool = (type: string, fields: object = {}): Tool => ({ type, ...fields }) as unknown as Tool;
const LOOK = tool("function", { name: "look" });
const alone = (one: Tool) => ({ tools: [one], include: [] });
const open = (vendor: string, wire: string, model: string) =>
  createNativeModel(vendor, wire, model) ?? assert.fail(`${vendor} runs nothing`);

describe("the table of native tools", () => {
  for (const vendor of VENDOR_NAMES) {
    const row = NATIVE_TOOLS[vendor];
    if (!row) continue;
    it(`names an API that the vendor speaks: ${vendor}`, () => {
      const { wire, alternatives = [] } = vendorOf(vendor);
      assert.ok([wire, ...alternatives].includes(row.wire));
    });
  }
});

describe("a model's native tools", () => {
  it("exist on the API that has them, and on no other", () => {
    assert.equal(createNativeModel("xai", "openai-chat", "grok-4.7"), undefined);
    const grok = open("xai", "openai-responses", "grok-4.7");
    for (const type of ["web_search", "x_search", "code_execution", "code_interpreter"]) {
      assert.ok(grok.runs(tool(type), alone(tool(type))), type);
    }
    assert.equal(createNativeModel("mistral", "openai-chat", "m"), undefined);
  });

  it("belong to the models that have them", () => {
    const search = tool("web_search");
    const oss = open("groq", "openai-chat", "openai/gpt-oss-120b");
    assert.ok(oss.runs(search, alone(search)));
    assert.ok(!oss.runs(search, { tools: [search, LOOK], include: [] }), "beside functions");
    assert.ok(!open("groq", "openai-chat", "llama-3.3-70b").runs(search, alone(search)));
    assert.ok(open("bedrock", "bedrock", "us.amazon.nova-2-lite-v1:0").runs(search, alone(search)));
    assert.ok(
      !open("bedrock", "bedrock", "us.anthropic.claude-opus-5").runs(search, alone(search)),
    );
  });

  it("do not include programs whose files are kept here", () => {
    const claude = open("anthropic", "anthropic", "claude-opus-5");
    const container = (given: unknown) => tool("code_interpreter", { container: given });
    const plain = container({ type: "auto" });
    assert.ok(claude.runs(plain, alone(plain)));
    for (const given of ["cntr_1", { type: "auto", file_ids: ["file_1"] }]) {
      assert.ok(!claude.runs(container(given), alone(container(given))));
    }
  });

  it("include their own items, and no item that names a file of the vendor's cloud", () => {
    const claude = open("anthropic", "anthropic", "claude-opus-5");
    const item = (fields: object) => fields as unknown as Item;
    assert.ok(claude.owns(item({ type: "anthropic:server_tool_use", block: {} })));
    assert.ok(claude.owns(item({ type: "web_search_call", anthropic: { blocks: [] } })));
    assert.ok(!claude.owns(item({ type: "web_search_call" })));
    assert.ok(!claude.owns(item({ type: "google:executableCode", block: {} })));
    const nova = open("bedrock", "bedrock", "us.amazon.nova-2-lite-v1:0");
    const s3 = { source: { s3Location: { uri: "s3://secret/a" } } };
    assert.ok(!nova.owns(item({ type: "bedrock:image", block: { image: s3 } })));
  });
});

describe("the price of native calls", () => {
  const usage = (nativeCalls: Record<string, number>) => toUsage({ nativeCalls });

  it("is added to that of the tokens", () => {
    const claude = findModel("anthropic", "claude-sonnet-5-5");
    assert.equal(costOf(claude, usage({ web_search: 3 })), 0.03);
    assert.equal(costOf(findModel("xai", "grok-4.7"), usage({ x_search: 2 })), 0.01);
    const gemini = findModel("gemini", "gemini-2.5-flash");
    assert.equal(costOf(gemini, usage({ google_search: 1 })), 0.035);
  });

  it("makes a cost unknown if it is unknown", () => {
    const claude = findModel("anthropic", "claude-sonnet-5-5");
    assert.equal(costOf(claude, usage({ code_execution: 1 })), undefined);
  });

  it("still charges the tokens of such an answer", () => {
    const claude = findModel("anthropic", "claude-sonnet-5-5");
    const asked = toUsage({ input: 1_000_000, nativeCalls: { code_execution: 1 } });
    const answer = { items: [], reason: "stop", usage: asked, cost_usd: null, continuation: null };
    const prices = { costOf: (used: Usage) => costOf(claude, used) };
    assert.equal(toAmount(answer as ModelAnswer, prices).usd, 2);
  });
});

describe("a run's tools", () => {
  const check = (names: string[], others: readonly Tool[] = [], usd: number | null = null) =>
    checkNative(
      { model: "gemini/gemini-2.5-flash", tools: names, limits: { ...NO_LIMITS, usd } },
      createNativeModel("gemini", "gemini", "gemini-2.5-flash"),
      others,
    );

  it("name the vendor's own with `native:`", () => {
    assert.ok(isNativeName("native:web_search"));
    assert.ok(!isNativeName("native:") && !isNativeName("web_search"));
    check(["bash_read", "native:web_search", "native:url_context"]);
  });

  it("may be named in an agent file", () => {
    const agent = { path: "a.md", tools: ["native:web_search"] } as unknown as AgentDefinition;
    checkAgentTools([agent], ["bash_read"]);
    const wrong = { ...agent, tools: ["web_search"] };
    assert.throws(() => checkAgentTools([wrong], ["bash_read"]), /No tool fits `web_search`/);
  });

  it("are refused, with the reason, if the vendor does not run them", () => {
    assert.throws(() => check(["native:x_search"]), /does not run it\. It runs: web_search, /);
    assert.throws(() => check(["native:web_search"], [LOOK]), /together with functions/);
    assert.throws(() => check(["native:google_maps"], [], 1), /price of `native:google_maps`/);
    const claude = createNativeModel("anthropic", "anthropic", "claude-opus-5");
    const bash = { model: "anthropic/c", tools: ["native:bash_20250124"], limits: NO_LIMITS };
    assert.throws(() => checkNative(bash, claude, []), /does not run it/);
    const nobody = { model: "mistral/m", tools: ["native:web_search"], limits: NO_LIMITS };
    assert.throws(() => checkNative(nobody, undefined, []), /runs no tools itself/);
  });
});
