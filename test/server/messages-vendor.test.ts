/**
 * Clients of the Messages API with a model of Anthropic's: fields that only that vendor has are passed on to it.
 */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { reply, script, startMessagesUpstream, type Upstream } from "../../src/testing/index.ts";
import { createGuardBench, startGuarded } from "./guard/guard-fixture.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

type Fields = Record<string, unknown>;

interface Started {
  readonly server: TestServer;
  readonly upstream: Upstream;
}

async function startVendor(t: TestContext): Promise<{ upstream: Upstream; setup: ServerSetup }> {
  const said = reply.text("Hi.");
  const upstream = await startMessagesUpstream({ engine: script(said, said, said) });
  t.after(() => upstream.close());
  const usual = {
    model: "anthropic/claude-sonnet-4-5",
    provider: "anthropic",
    url: upstream.url,
    api_key_name: "TEST_KEY",
  };
  const setup = { settings: { models: { named: [], usual } }, env: { TEST_KEY: "key" } };
  return { upstream, setup };
}

async function start(t: TestContext): Promise<Started> {
  const { upstream, setup } = await startVendor(t);
  return { upstream, server: await startServer(t, script(), setup) };
}

async function ask({ server, upstream }: Started, body: object): Promise<[Fields, Fields, string]> {
  const asked = { max_tokens: 100, messages: [{ role: "user", content: "Hi" }], ...body };
  const answer = await server.ask("POST", "/v1/messages", asked);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const { body: sent, headers } = upstream.requests.at(-1) ?? assert.fail();
  return [sent as Fields, answer.body as Fields, String(headers["anthropic-beta"] ?? "")];
}

describe("a Messages request on a model of Anthropic's", () => {
  it("keeps instructions in their place, and names the feature", async (t) => {
    const messages = [
      { role: "user", content: "Hi" },
      { role: "system", content: "Be brief." },
    ];
    const [sent, , betas] = await ask(await start(t), { messages });
    assert.deepEqual(
      (sent["messages"] as Fields[]).map(({ role }) => role),
      ["user", "system"],
    );
    assert.match(betas, /mid-conversation-system-2026-04-07/);
  });

  it("has the model continue an answer that has begun", async (t) => {
    const messages = [
      { role: "user", content: "Which?" },
      { role: "assistant", content: "The best is (" },
    ];
    const [sent] = await ask(await start(t), { messages });
    assert.equal((sent["messages"] as Fields[]).at(-1)?.["role"], "assistant");
  });

  it("has its documents cited, and its search results as they are", async (t) => {
    const document = {
      type: "document",
      title: "T",
      context: "C",
      citations: { enabled: true },
      source: { type: "text", media_type: "text/plain", data: "The grass is green." },
    };
    const found = {
      type: "search_result",
      source: "https://x.org",
      title: "X",
      content: [{ type: "text", text: "Found" }],
      citations: { enabled: true },
    };
    const content = [document, found];
    const [sent, answer] = await ask(await start(t), { messages: [{ role: "user", content }] });
    assert.deepEqual((sent["messages"] as Fields[])[0]?.["content"], content);
    assert.equal(answer["offshoot"], undefined);
  });

  it("keeps each mark of the cache for as long as it says", async (t) => {
    const hour = { type: "ephemeral", ttl: "1h" };
    const system = [{ type: "text", text: "A", cache_control: hour }];
    const content = [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }];
    const tools = [{ name: "a", input_schema: { type: "object" } }];
    const [sent] = await ask(await start(t), {
      system,
      tools,
      messages: [{ role: "user", content }],
    });
    assert.deepEqual((sent["system"] as Fields[])[0]?.["cache_control"], hour);
    const [turn] = sent["messages"] as { content: Fields[] }[];
    assert.deepEqual(turn?.content[0]?.["cache_control"], { type: "ephemeral" });
    assert.equal((sent["tools"] as Fields[])[0]?.["cache_control"], undefined, "nothing is added");
  });

  it("marks the end of the conversation where the request asks for that as a whole", async (t) => {
    const hour = { type: "ephemeral", ttl: "1h" };
    const [sent] = await ask(await start(t), { cache_control: hour });
    const [turn] = sent["messages"] as { content: Fields[] }[];
    assert.deepEqual(turn?.content[0]?.["cache_control"], hour);
  });

  it("leaves the search for tools to the vendor, with the tools that are deferred", async (t) => {
    const search = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" };
    const late = { name: "late", input_schema: { type: "object", properties: {} } };
    const more = { defer_loading: true, input_examples: [{}], allowed_callers: ["direct"] };
    const [sent] = await ask(await start(t), { tools: [search, { ...late, ...more }] });
    assert.deepEqual((sent["tools"] as Fields[])[0], search);
    const { cache_control: _, ...told } = (sent["tools"] as Fields[])[1] ?? {};
    assert.deepEqual(told, { ...late, ...more });
  });
});

describe("fields that only Anthropic has", () => {
  const FIELDS = {
    speed: "fast",
    inference_geo: "us",
    fallbacks: [{ model: "claude-opus-4-1" }],
    container: { skills: [{ type: "anthropic", skill_id: "pptx", version: "latest" }] },
  };

  it("reach it with the features that they are part of", async (t) => {
    const [sent, answer, betas] = await ask(await start(t), FIELDS);
    for (const [name, value] of Object.entries(FIELDS)) assert.deepEqual(sent[name], value, name);
    assert.match(betas, /skills-2025-10-02/);
    assert.match(betas, /fast-mode-2026-02-01/);
    assert.match(betas, /server-side-fallback-2026-07-01/);
    assert.equal(answer["offshoot"], undefined);
  });

  it("take a key that may set them; what it may not is named and left out", async (t) => {
    const bench = createGuardBench();
    const { upstream, setup } = await startVendor(t);
    const server = await startGuarded(t, bench, script(), setup);
    const { token } = await bench.makeKey({ options: ["container"] });
    const body = { max_tokens: 10, messages: [{ role: "user", content: "Hi" }], ...FIELDS };
    const { text } = await server.send({ path: "/v1/messages", token, body });
    assert.deepEqual((JSON.parse(text) as { offshoot: object }).offshoot, {
      ignored: ["inference_geo", "speed", "fallbacks"],
    });
    const sent = upstream.requests[0]?.body as Fields;
    assert.deepEqual(
      Object.keys(FIELDS).map((name) => name in sent),
      [false, false, false, true],
    );
  });

  it("are named as left out for any other model", async (t) => {
    const server = await startServer(t, script(reply.text("Hi.")));
    const asked = { max_tokens: 10, messages: [{ role: "user", content: "Hi" }], ...FIELDS };
    const { body } = await server.ask("POST", "/v1/messages", asked);
    const { offshoot } = body as { offshoot: { ignored: string[] } };
    assert.deepEqual(offshoot.ignored.sort(), Object.keys(FIELDS).sort());
  });
});
