/** Tools that a model's vendor runs itself: who runs them, what clients see, and what goes back. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { createNativeModel } from "../../src/providers/vendors/native-model.ts";
import {
  reply,
  script,
  startBedrockUpstream,
  startChatUpstream,
  startMessagesUpstream,
  startResponsesUpstream,
} from "../../src/testing/index.ts";
import { type ProviderName, startProviderServer } from "../conformance/provider-servers.ts";
import { createServers, modelAt, typesOf } from "./server-complaints-fixture.ts";

const PAGE = { url: "https://one.example.org/a", title: "One" };
const FOUND = reply.searched({ query: "colour", pages: [PAGE] }, "It is blue.");
const LOOK = { type: "function", name: "look", parameters: { type: "object", properties: {} } };

const ignoredOf = ({ offshoot }: EmittedResponse): string => offshoot?.ignored.join(", ") ?? "";

/** The request to each vendor for the API's `web_search`. */
const SPELLED: readonly (readonly [ProviderName, RegExp])[] = [
  ["messages", /"type":"web_search_20250305","name":"web_search"/],
  ["gemini", /"tools":\[\{"googleSearch":\{\}\}\]/],
  ["responses", /"tools":\[\{"type":"web_search"\}\]/],
];

describe("the standard web_search", () => {
  const ask = createServers();

  for (const [name, spelled] of SPELLED) {
    it(`is run by the vendor, cited, and goes back as it came (${name})`, async () => {
      const { server, sent } = await ask(name, FOUND, reply.text("Sure."));
      const tools = [{ type: "web_search" }];
      const first = await server.create({ input: "Which?", tools });
      assert.match(sent(), spelled);
      assert.equal(first.output_text, "It is blue.");
      assert.equal(ignoredOf(first), "");
      assert.deepEqual(new Set(typesOf(first.output)), new Set(["web_search_call", "message"]));
      assert.match(JSON.stringify(first.output), /"query":"colour"/);
      const message = first.output.find((item) => item.type === "message");
      const cited = JSON.stringify(message);
      assert.match(cited, /"type":"url_citation".*https:\/\/one\.example\.org\/a/);

      const next = await server.create({ input: "Sure?", tools, previous_response_id: first.id });
      assert.equal(next.output_text, "Sure.");
      assert.equal(ignoredOf(next), "");
      if (name === "messages") {
        assert.match(sent(), /"server_tool_use".*"web_search_tool_result".*"sealed-0"/);
        assert.match(sent(), /"encrypted_index":"sealed-index"/);
      }
    });
  }

  it("tells of its progress, as any search does", async () => {
    const { server } = await ask("messages", FOUND);
    const events = await server.stream({ input: "Which?", tools: [{ type: "web_search" }] });
    const types = typesOf(events).filter((type) => type.includes("web_search_call"));
    assert.deepEqual(types, [
      "response.web_search_call.in_progress",
      "response.web_search_call.completed",
    ]);
  });

  it("shows sources to those who ask, and not to others", async () => {
    const { server } = await ask("messages", FOUND, FOUND);
    const tools = [{ type: "web_search" }];
    const include = ["web_search_call.action.sources"];
    const shown = await server.create({ input: "Which?", tools, include });
    assert.match(JSON.stringify(shown.output), /"sources":\[\{"type":"url"/);
    const plain = await server.create({ input: "Which?", tools });
    assert.doesNotMatch(JSON.stringify(plain.output), /"sources"/);
  });

  it("is this server's own where the vendor cannot do all that is asked", async () => {
    const wishes = [
      { tools: [{ type: "web_search", execution: "server" }] },
      { tools: [{ type: "web_search", filters: { allowed_domains: ["a.org"] } }] },
      { tools: [{ type: "web_search" }], include: ["web_search_call.results"] },
    ];
    for (const wish of wishes) {
      const { server, sent } = await ask("gemini", reply.text("Ok."));
      await server.create({ input: "Hi", ...wish });
      assert.doesNotMatch(sent(), /googleSearch/);
      assert.match(sent(), /"functionDeclarations":\[\{"name":"web_search"/);
    }
  });

  it("leaves out, and names, what is only advice", async () => {
    const { server, sent } = await ask("messages", reply.text("Ok."));
    const tools = [{ type: "web_search", search_context_size: "low" }];
    const made = await server.create({ input: "Hi", tools, store: false });
    assert.match(sent(), /web_search_20250305/);
    assert.equal(ignoredOf(made), "tools[0].search_context_size");
  });

  it("is forced where the vendor has a word for it, and reported where it has none", async () => {
    const wish = { tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } };
    const claude = await ask("messages", FOUND);
    await claude.server.create({ input: "Hi", ...wish });
    assert.match(claude.sent(), /"tool_choice":\{"type":"tool","name":"web_search"\}/);
    const gemini = await ask("gemini", FOUND);
    assert.match(ignoredOf(await gemini.server.create({ input: "Hi", ...wish })), /tool_choice/);
  });
});

describe("who runs a hosted tool", () => {
  it("is decided by the operator: none of them natively", async (t) => {
    const setup = { settings: { nativeTools: ["none"] } };
    const engine = script(reply.text("Ok."), reply.text("Ok."));
    const { server, upstream } = await startProviderServer(t, "messages", engine, setup);
    await server.create({ input: "Hi", tools: [{ type: "web_search" }] });
    assert.doesNotMatch(upstream?.requests.at(-1)?.text ?? "", /web_search_2025/);
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const made = await server.create({ input: "Hi", tools });
    assert.equal(ignoredOf(made), "tools[0] (web_search_20250305)");
  });

  it("is decided by a limit in dollars where a price is not known", async (t) => {
    const upstream = await startMessagesUpstream({ engine: script(reply.text("Ok.")) });
    t.after(() => upstream.close());
    const caller = { limits: { ...NO_LIMITS, usd: 5 } };
    const setup = { ...modelAt(upstream, "anthropic", "anthropic/claude-sonnet-5-5"), caller };
    const { server } = await startProviderServer(t, "messages", script(), setup);
    const own = { input: "Hi", tools: [{ type: "code_execution_20250825" }] };
    const { status, body } = await server.ask("POST", "/v1/responses", own);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(JSON.stringify(body), /price of `code_execution_20250825` is not known/);
    const searched = await server.create({ input: "Hi", tools: [{ type: "web_search" }] });
    assert.equal(searched.output_text, "Ok.");
    assert.match(upstream.requests.at(-1)?.text ?? "", /web_search_20250305/);
  });
});

describe("pictures that OpenAI draws", () => {
  it("are not asked for where dollars are limited: nothing in its answer tells what they cost", () => {
    const openai = createNativeModel("openai", "openai-responses", "gpt-5");
    const drawing = { type: "image_generation" } as const;
    assert.equal(openai?.runs(drawing, { tools: [drawing], include: [] }), true);
    assert.equal(openai?.isPriced(drawing), false);
    assert.equal(openai?.isPriced({ type: "web_search" }), true);
  });
});

/** By provider: a tool of the vendor's own type, as requests spell it, and what the vendor is sent. */
const OWN: readonly (readonly [ProviderName, JsonObject, RegExp])[] = [
  ["messages", { type: "web_search_20250305", max_uses: 2 }, /"name":"web_search".*"max_uses":2/],
  ["messages", { type: "web_fetch_20250910" }, /"type":"web_fetch_20250910"/],
  ["messages", { type: "code_execution_20250825" }, /"name":"code_execution"/],
  ["messages", { type: "memory_20250818" }, /"name":"memory"/],
  ["messages", { type: "tool_search_tool_bm25_20251119" }, /"name":"tool_search_tool_bm25"/],
  ["gemini", { type: "google_search" }, /\{"googleSearch":\{\}\}/],
  ["gemini", { type: "url_context" }, /\{"urlContext":\{\}\}/],
  ["gemini", { type: "code_execution" }, /\{"codeExecution":\{\}\}/],
  [
    "gemini",
    { type: "google_maps", enableWidget: true },
    /\{"googleMaps":\{"enableWidget":true\}\}/,
  ],
  ["bedrock", { type: "nova_grounding" }, /\{"systemTool":\{"name":"nova_grounding"\}\}/],
];

describe("a tool of the vendor's own type", () => {
  const ask = createServers();

  for (const [name, tool, spelled] of OWN) {
    it(`goes to the vendor as it is: ${String(tool["type"])}`, async () => {
      const { server, sent } = await ask(name, reply.text("Ok."));
      const made = await server.create({ input: "Hi", tools: [tool] });
      assert.match(sent(), spelled);
      assert.equal(ignoredOf(made), "");
    });
  }

  it("is left out and named where the vendor does not know it", async () => {
    const tools = [{ type: "x_search" }, { type: "google_search" }, LOOK];
    for (const name of ["messages", "chat", "bedrock", "responses"] as const) {
      const { server } = await ask(name, reply.text("Ok."));
      const made = await server.create({ input: "Hi", tools });
      assert.equal(ignoredOf(made), "tools[0] (x_search), tools[1] (google_search)");
    }
  });

  it("leaves the vendor's own blocks, which go back word for word", async () => {
    const { server, sent } = await ask("messages", FOUND, reply.text("Sure."));
    const tools = [{ type: "web_search_20250305" }];
    const first = await server.create({ input: "Which?", tools });
    assert.deepEqual(typesOf(first.output), [
      "anthropic:server_tool_use",
      "anthropic:web_search_tool_result",
      "message",
    ]);
    const input = [{ role: "user", content: "Which?" }, ...first.output];
    const again = [...input, { role: "user", content: "Sure?" }];
    const next = await server.create({ input: again, tools, store: false });
    assert.equal(ignoredOf(next), "");
    assert.match(sent(), /"server_tool_use".*"web_search_tool_result".*"sealed-0"/);
  });

  it("gives a client no way to files in the vendor's cloud", async () => {
    const { server, sent } = await ask("gemini", reply.text("Ok."));
    const block = { fileData: { fileUri: "gs://secret/a.pdf", mimeType: "application/pdf" } };
    const item = { type: "google:inlineData", id: "x", block };
    const made = await server.create({ input: [{ role: "user", content: "Hi" }, item] });
    assert.doesNotMatch(sent(), /secret/);
    assert.match(ignoredOf(made), /google:inlineData/);
  });
});

describe("what the operator's account keeps with a vendor", () => {
  const tool = { type: "fileSearch", fileSearchStoreNames: ["fileSearchStores/payroll"] };

  it("is not read for a client because all tools are left to vendors", async (t) => {
    const { server, upstream } = await startProviderServer(t, "gemini", script(reply.text("Ok.")));
    const made = await server.create({ input: "Hi", tools: [tool] });
    assert.equal(ignoredOf(made), "tools[0] (fileSearch)");
    assert.doesNotMatch(upstream?.requests.at(-1)?.text ?? "", /payroll/);
  });

  it("is read where the operator names the tool", async (t) => {
    const setup = { settings: { nativeTools: ["*", "fileSearch"] } };
    const engine = script(reply.text("Ok."));
    const { server, upstream } = await startProviderServer(t, "gemini", engine, setup);
    assert.equal(ignoredOf(await server.create({ input: "Hi", tools: [tool] })), "");
    assert.match(upstream?.requests.at(-1)?.text ?? "", /payroll/);
  });
});

describe("tools that Gemini runs", () => {
  const at = async (t: Parameters<typeof startProviderServer>[0], model: string) => {
    const started = await startProviderServer(t, "gemini", script(FOUND));
    const usual = {
      model,
      provider: "gemini",
      url: started.upstream?.url ?? "",
      api_key_name: null,
    };
    const setup = { settings: { models: { named: [], usual } } };
    const { server } = await startProviderServer(t, "gemini", script(FOUND), setup);
    return { server, upstream: started.upstream };
  };

  it("stand beside functions for models that take both", async (t) => {
    const { server, upstream } = await at(t, "gemini/gemini-3.8-flash");
    await server.create({ input: "Hi", tools: [{ type: "web_search" }, LOOK] });
    const text = upstream?.requests.at(-1)?.text ?? "";
    assert.match(text, /"googleSearch".*"includeServerSideToolInvocations":true/);
  });

  it("give way to this server's own for models that do not", async (t) => {
    const { server, upstream } = await at(t, "gemini/gemini-2.5-flash");
    await server.create({ input: "Hi", tools: [{ type: "web_search" }, LOOK] });
    assert.doesNotMatch(upstream?.requests.at(-1)?.text ?? "", /googleSearch/);
  });

  it("are refused by their own names beside functions, with what to do", async (t) => {
    const { server } = await at(t, "gemini/gemini-2.5-flash");
    const body = { input: "Hi", tools: [{ type: "google_search" }, LOOK] };
    const { status, body: refused } = await server.ask("POST", "/v1/responses", body);
    assert.equal(status, 400);
    assert.match(JSON.stringify(refused), /does not accept functions beside its own tool `google/);
  });
});

describe("tools that xAI runs", () => {
  it("go to its Responses API, which is the one that it is asked over", async (t) => {
    const engine = script(FOUND, reply.text("Sure."));
    const upstream = await startResponsesUpstream({ engine, personality: "xai" });
    t.after(() => upstream.close());
    const usual = {
      ...{ model: "xai/grok-4.7", provider: null, url: upstream.url, api_key_name: null },
    };
    const setup = { settings: { models: { named: [], usual } } };
    const { server } = await startProviderServer(t, "responses", script(), setup);
    const tools = [{ type: "x_search" }, { type: "web_search", search_context_size: "low" }];
    const body = { instructions: "Be brief.", tools };
    const first = await server.create({ ...body, input: "Which?" });
    assert.equal(ignoredOf(first), "tools[1].search_context_size");
    const sent = (): string => upstream.requests.at(-1)?.text ?? "";
    assert.match(sent(), /"tools":\[\{"type":"x_search"\},\{"type":"web_search"\}\]/);
    assert.match(sent(), /"input":\[\{"role":"system"/);
    assert.match(JSON.stringify(first.output), /"web_search_call".*"url_citation"/);
    const next = await server.create({ ...body, input: "Sure?", previous_response_id: first.id });
    assert.equal(next.output_text, "Sure.");
    assert.match(sent(), /"type":"web_search_call"/);
  });
});

describe("a conversation that moves to another vendor", () => {
  const ask = createServers();

  it("takes a vendor's search along as a call with its sources, and none of its seals", async () => {
    const tools = [{ type: "web_search" }];
    const include = ["web_search_call.action.sources"];
    const claude = await ask("messages", FOUND);
    const first = await claude.server.create({ input: "Which?", tools, include });
    for (const name of ["responses", "gemini", "chat", "bedrock"] as const) {
      const { server, sent } = await ask(name, reply.text("Sure."));
      const before = [{ role: "user", content: "Which?" }, ...first.output];
      const input = [...before, { role: "user", content: "Sure?" }];
      const made = await server.create({ input, tools });
      assert.equal(made.output_text, "Sure.", name);
      assert.doesNotMatch(sent(), /sealed-0|"anthropic"/, name);
      assert.match(sent(), /one\.example\.org/, name);
    }
  });
});

describe("Nova's grounding", () => {
  it("is the search of its models, and goes back as it came", async (t) => {
    const upstream = await startBedrockUpstream({ engine: script(FOUND, reply.text("Sure.")) });
    t.after(() => upstream.close());
    const setup = modelAt(upstream, "bedrock", "bedrock/us.amazon.nova-2-lite-v1:0");
    const { server } = await startProviderServer(t, "bedrock", script(), setup);
    const tools = [{ type: "web_search" }];
    const first = await server.create({ input: "Which?", tools });
    assert.match(upstream.requests.at(-1)?.text ?? "", /"systemTool":\{"name":"nova_grounding"\}/);
    assert.deepEqual(typesOf(first.output), ["web_search_call", "bedrock:toolResult", "message"]);
    assert.match(JSON.stringify(first.output), /"query":"colour".*"url_citation"/);
    const next = await server.create({ input: "Sure?", tools, previous_response_id: first.id });
    assert.equal(ignoredOf(next), "");
    assert.match(upstream.requests.at(-1)?.text ?? "", /"type":"server_tool_use".*"toolResult"/);
  });
});

describe("Claude's MCP connector and skills", () => {
  it("get what they need beside a tool from the settings, and all their betas", async (t) => {
    const servers = [{ type: "url", url: "https://mcp.example.org/", name: "x" }];
    const overrides = [
      {
        ...{ vendor: "anthropic", name: "test-model", options: { mcp_servers: servers } },
        headers: { "anthropic-beta": "skills-2025-10-02" },
      },
    ];
    const engine = script(reply.text("Ok."));
    const { server, upstream } = await startProviderServer(t, "messages", engine, { overrides });
    const tools = [{ type: "mcp_toolset", mcp_server_name: "x" }];
    const made = await server.create({ input: "Hi", tools });
    assert.equal(ignoredOf(made), "");
    const sent = upstream?.requests.at(-1);
    assert.match(sent?.text ?? "", /"mcp_servers":\[\{"type":"url"/);
    assert.match(sent?.text ?? "", /"type":"mcp_toolset","mcp_server_name":"x"/);
    assert.equal(sent?.headers["anthropic-beta"], "mcp-client-2025-11-20,skills-2025-10-02");
  });
});

describe("a key's list of tools", () => {
  it("holds for vendors' tools by the names of the hosted kinds", async (t) => {
    const setup = { caller: { kinds: ["web_search"] } };
    const engine = script(reply.text("Ok."), reply.text("Ok."));
    const { server } = await startProviderServer(t, "gemini", engine, setup);
    const ask = (type: string) =>
      server.ask("POST", "/v1/responses", { input: "Hi", tools: [{ type }] });
    assert.equal((await ask("google_search")).status, 200);
    for (const type of ["url_context", "code_execution", "x_search", "web_fetch_20250910"]) {
      const { status, body } = await ask(type);
      assert.equal(status, 403, type);
      assert.match(JSON.stringify(body), /This key may not use the tool/);
    }
  });

  it("does not narrow what Claude asks its client to do", async (t) => {
    const setup = { caller: { kinds: [] } };
    const engine = script(reply.text("Ok."));
    const { server } = await startProviderServer(t, "messages", engine, setup);
    const made = await server.create({ input: "Hi", tools: [{ type: "memory_20250818" }] });
    assert.equal(made.output_text, "Ok.");
  });
});

describe("what native searches cost", () => {
  it("is counted with the answer", async (t) => {
    const upstream = await startMessagesUpstream({ engine: script(FOUND) });
    t.after(() => upstream.close());
    const setup = modelAt(upstream, "anthropic", "anthropic/claude-sonnet-5-5");
    const { server } = await startProviderServer(t, "messages", script(), setup);
    const made = await server.create({ input: "Which?", tools: [{ type: "web_search" }] });
    assert.deepEqual(made.usage?.native_calls, { web_search: 1 });
  });
});

describe("tools that Groq runs", () => {
  it("are sent under their names, and told as searches with sources", async (t) => {
    const upstream = await startChatUpstream({ engine: script(FOUND) });
    t.after(() => upstream.close());
    const setup = modelAt(upstream, "openai-chat", "groq/openai/gpt-oss-120b");
    const { server } = await startProviderServer(t, "chat", script(), setup);
    const made = await server.create({ input: "Which?", tools: [{ type: "web_search" }] });
    assert.match(upstream.requests.at(-1)?.text ?? "", /"tools":\[\{"type":"browser_search"\}\]/);
    assert.deepEqual(typesOf(made.output), ["web_search_call", "message"]);
    assert.match(JSON.stringify(made.output), /"url_citation"/);
  });
});
