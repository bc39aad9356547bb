import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { RunEnd } from "../../src/protocol/run-events.ts";
import { createRuntime, type RunRequest, type Runtime } from "../../src/runtime/runtime.ts";
import {
  createManualClock,
  reply,
  script,
  startChatUpstream,
  startResponsesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const open: (Runtime | Upstream)[] = [];
after(async () => {
  for (const one of open) await one.close();
});

async function runtimeFor(env: Record<string, string> = {}): Promise<Runtime> {
  const runtime = await createRuntime({ env });
  open.push(runtime);
  return runtime;
}

async function finish(runtime: Runtime, request: RunRequest): Promise<RunEnd> {
  return (await runtime.run(request)).result();
}

/** The same conversations on every wire: the embedded model is the engine inside the servers. */
const REQUESTS = [
  "compute 2**64 % 97",
  "read package.json",
  "how many lines has each file in src/base",
  "find Failure in src/tools",
  "what can you do?",
];

describe("a run with a limit in dollars", () => {
  it("is refused before it starts if the model's price is not known", async () => {
    const runtime = await runtimeFor();
    const upstream = await startChatUpstream();
    open.push(upstream);
    const custom = { model: "custom/test-model", url: upstream.url, provider: "openai-chat" };
    const asked = { input: "Hi", root: ROOT, limits: { ...NO_LIMITS, usd: 1 } };
    await assert.rejects(runtime.run({ ...asked, ...custom }), {
      code: "invalid_request",
      param: "model",
    });
    assert.equal(upstream.requests.length, 0);
    assert.equal((await finish(runtime, { ...asked, model: "embedded/offline" })).message, "");
  });
});

describe("one prompt on every wire", async () => {
  const runtime = await runtimeFor();
  const chat = await startChatUpstream();
  const strict = await startResponsesUpstream();
  const legacy = await startResponsesUpstream({ personality: "legacy" });
  open.push(chat, strict, legacy);
  const wires: readonly (readonly [string, Partial<RunRequest>])[] = [
    ["openai-chat", { url: chat.url, provider: "openai-chat" }],
    ["openai-responses, strict", { url: strict.url, provider: "openai-responses" }],
    ["openai-responses, legacy", { url: legacy.url, provider: "openai-responses" }],
  ];
  for (const input of REQUESTS) {
    for (const [name, wire] of wires) {
      it(`${name} answers "${input}" as the embedded model does in process`, async () => {
        const request = { input, tools: ["read", "bash_find"], root: ROOT };
        const expected = await finish(runtime, { ...request, model: "embedded/offline" });
        const end = await finish(runtime, { ...request, ...wire, model: "custom/test-model" });
        assert.equal(end.message, "");
        assert.equal(end.output_text, expected.output_text);
        assert.equal(end.tool_calls, expected.tool_calls);
      });
    }
  }

  for (const [name, wire] of [...wires, ["embedded", {}] as const]) {
    it(`${name} fills a schema`, async () => {
      const schema = {
        type: "object",
        properties: { city: { type: "string" }, population: { type: "integer" } },
        required: ["city", "population"],
      };
      const end = await finish(runtime, {
        ...wire,
        model: name === "embedded" ? "embedded/offline" : "custom/test-model",
        input: "city: Oslo, population: 717710",
        format: { type: "json_schema", name: "city", schema, strict: true },
      });
      assert.deepEqual(end.output_json, { city: "Oslo", population: 717710 });
    });
  }
});

describe("the runtime", () => {
  for (const [what, request, message] of [
    ["a key that is missing", { model: "openai/gpt-5.1" }, /needs a key in `OPENAI_API_KEY`/],
    [
      "a key variable that is not set",
      { model: "openai/gpt-5.1", api_key_name: "NOPE" },
      /`NOPE` is not set/,
    ],
    ["an unknown tool", { model: "embedded/offline", tools: ["nope"] }, /Unknown tool `nope`/],
    ["an unknown vendor", { model: "opnai/gpt" }, /Did you mean `openai\/gpt`/],
    ["an empty prompt", { model: "embedded/offline", input: " " }, /prompt is empty/],
    [
      "a provider a vendor does not speak",
      { model: "openai/x", provider: "embedded", api_key_name: "KEY" },
      /does not speak/,
    ],
  ] as const) {
    it(`refuses ${what} before anything is sent or stored`, async () => {
      const runtime = await runtimeFor({ KEY: "k" });
      await assert.rejects(runtime.run({ input: "Hello", ...request }), message);
    });
  }

  it("sends the key of the variable that was named, and keeps it out of the record", async () => {
    const upstream = await startChatUpstream({ key: "secret-value-1" });
    open.push(upstream);
    const runtime = await runtimeFor({ MY_KEY: "secret-value-1" });
    const request = {
      model: "custom/m",
      url: upstream.url,
      api_key_name: "MY_KEY",
      input: "say hi",
    };
    const run = await runtime.run(request);
    const log: unknown[] = [];
    for await (const batch of run.follow()) log.push(...batch);
    assert.equal((await run.result()).output_text, "hi");
    const stored = await runtime.engine.status(run.id);
    assert.ok(!JSON.stringify([log, stored]).includes("secret-value-1"));
  });

  it("ends a run at its time limit", async () => {
    const upstream = await startChatUpstream({ engine: script(reply.silence("Wait")) });
    open.push(upstream);
    const clock = createManualClock();
    const runtime = await createRuntime({ env: {}, clock });
    open.push(runtime);
    const run = await runtime.run({
      model: "custom/m",
      url: upstream.url,
      input: "Hi",
      timeoutMs: 50,
    });
    for await (const batch of run.follow()) {
      if (batch.some(({ event }) => event.type === "text_delta")) break;
    }
    await clock.advance(50);
    const end = await run.result();
    assert.equal(end.ending, "timeout");
    assert.equal(end.output_text, "Wait");
  });
});
