/** Tools that the server runs for clients of the Messages API, on a model that has none of its own. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { type Reply, reply, script } from "../../src/testing/index.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { assemble, framesIn } from "../responses/messages/read-stream.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

type Fields = Record<string, unknown>;

function listOf(value: unknown): Fields[] {
  assert.ok(Array.isArray(value));
  return value as Fields[];
}

function fieldsOf(value: unknown): Fields {
  assert.ok(typeof value === "object" && value !== null);
  return value as Fields;
}

const RESULTS = [
  { title: "One", url: "https://one.example.org/a", description: "The first." },
  { title: "Two", url: "https://two.example.com/b", description: "The second." },
];

/** A tool in place of one that would reach the network. */
function standIn(name: string, properties: object, answer: Json): Tool {
  const parameters = { type: "object", properties } as NonNullable<Tool["spec"]["parameters"]>;
  return {
    spec: { type: "function", name, description: "", parameters, strict: false },
    readOnly: true,
    effect: "network",
    parse: (input) => input,
    run: async () => answer,
  };
}

function startWeb(t: TestContext, ...replies: readonly Reply[]): Promise<TestServer> {
  const tools = [
    standIn("search_web", { query: {}, count: {} }, RESULTS),
    standIn("scrape_webpage", { url: {} }, "The page says 5."),
  ];
  return startServer(t, script(...replies), { tools });
}

async function ask(server: TestServer, body: object): Promise<Fields> {
  const answer = await server.ask("POST", "/v1/messages", { model: "m", max_tokens: 500, ...body });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body as Fields;
}

const search = reply.calls([{ name: "web_search", arguments: { query: "the first" } }]);
const cited = reply.text("It is the [first](https://one.example.org/a).");
const question = { messages: [{ role: "user", content: "Which?" }] };
const SEARCH = { type: "web_search_20250305", name: "web_search", max_uses: 8 };

describe("web_search of the Messages API, on any model", () => {
  it("gives the call, its results, citations and the count", async (t) => {
    const server = await startWeb(t, search, cited);
    const tool_choice = { type: "tool", name: "web_search" };
    const body = await ask(server, { ...question, tools: [SEARCH], tool_choice });
    const [call, result, text] = body["content"] as Fields[];
    assert.deepEqual(
      [call?.["type"], call?.["name"], call?.["input"]],
      ["server_tool_use", "web_search", { query: "the first" }],
    );
    assert.equal(result?.["type"], "web_search_tool_result");
    assert.equal(result?.["tool_use_id"], call?.["id"]);
    const found = result?.["content"] as Fields[];
    assert.deepEqual(
      found.map(({ type, title, url }) => [type, title, url]),
      RESULTS.map(({ title, url }) => ["web_search_result", title, url]),
    );
    const [citation] = listOf(text?.["citations"]);
    assert.equal(citation?.["type"], "web_search_result_location");
    assert.equal(citation?.["url"], "https://one.example.org/a");
    const { server_tool_use } = body["usage"] as { server_tool_use: object };
    assert.deepEqual(server_tool_use, { web_search_requests: 1, web_fetch_requests: 0 });
    assert.equal(body["stop_reason"], "end_turn");
  });

  it("streams the same blocks", async (t) => {
    const server = await startWeb(t, search, cited);
    const asked = { model: "m", max_tokens: 500, ...question, tools: [SEARCH], stream: true };
    const { body } = await server.ask("POST", "/v1/messages", asked);
    const { content } = assemble(framesIn(String(body)));
    assert.deepEqual(
      content.map(({ type }) => type),
      ["server_tool_use", "web_search_tool_result", "text"],
    );
    assert.deepEqual(content[0]?.["input"], { query: "the first" });
    assert.equal(listOf(content[2]?.["citations"]).length, 1);
  });

  it("is known to the model in the next request", async (t) => {
    const server = await startWeb(t, search, cited, reply.text("Yes."));
    const { content } = await ask(server, { ...question, tools: [SEARCH] });
    const messages = [
      ...question.messages,
      { role: "assistant", content },
      { role: "user", content: "Sure?" },
    ];
    await ask(server, { messages, tools: [SEARCH] });
    const { text = "" } = server.upstream.requests[2] ?? {};
    assert.match(text, /"name":"web_search","arguments":"\{\\"query\\":\\"the first\\"\}"/);
    assert.match(text, /The first\./);
  });

  it("shows nothing of sites that are blocked", async (t) => {
    const server = await startWeb(t, search, cited);
    const tools = [{ ...SEARCH, blocked_domains: ["example.com"] }];
    const body = await ask(server, { ...question, tools });
    const [, result] = body["content"] as Fields[];
    assert.deepEqual(
      listOf(result?.["content"]).map(({ title }) => title),
      ["One"],
    );
  });
});

describe("code_execution of the Messages API, on any model", () => {
  const CODE = { type: "code_execution_20250825", name: "code_execution" };
  const runs = reply.calls([{ name: "code_interpreter", arguments: { code: "print(6 * 7)" } }]);

  /** In place of Python, which would be a process. */
  function startCode(t: TestContext, ...replies: readonly Reply[]): Promise<TestServer> {
    return startServer(t, script(...replies), {
      tools: [standIn("mcp__py__run", { code: { type: "string" } }, "42")],
      settings: {
        machine: { interpreter: { wheels: undefined, index: undefined } },
        backing: { code_interpreter: "py/run" },
      },
    });
  }

  it("gives the call and what it printed, whole and streamed", async (t) => {
    const server = await startCode(t, runs, reply.text("42."), runs, reply.text("42."));
    const { content, stop_reason } = await ask(server, { ...question, tools: [CODE] });
    const asked = { model: "m", max_tokens: 500, ...question, tools: [CODE], stream: true };
    const { body } = await server.ask("POST", "/v1/messages", asked);
    const streamed = assemble(framesIn(String(body))).content;
    for (const blocks of [listOf(content), streamed]) {
      const [call, result, text] = blocks;
      assert.equal(blocks.length, 3);
      assert.deepEqual(
        [call?.["type"], call?.["name"], call?.["input"]],
        ["server_tool_use", "code_execution", { code: "print(6 * 7)" }],
      );
      assert.deepEqual(
        [result?.["type"], result?.["tool_use_id"]],
        ["code_execution_tool_result", call?.["id"]],
      );
      assert.deepEqual(result?.["content"], {
        type: "code_execution_result",
        return_code: 0,
        content: [],
        stdout: "42",
        stderr: "",
      });
      assert.equal(text?.["text"], "42.");
    }
    assert.equal(stop_reason, "end_turn");
  });

  it("is known to the model in the next request", async (t) => {
    const server = await startCode(t, runs, reply.text("42."), reply.text("Yes."));
    const { content } = await ask(server, { ...question, tools: [CODE] });
    const messages = [
      ...question.messages,
      { role: "assistant", content },
      { role: "user", content: "Sure?" },
    ];
    await ask(server, { messages, tools: [CODE] });
    const sent = fieldsOf(server.upstream.requests[2]?.body);
    const [, call, result, said] = listOf(sent["messages"]);
    const [asked] = listOf(call?.["tool_calls"]);
    assert.deepEqual(fieldsOf(asked?.["function"]), {
      name: "code_interpreter",
      arguments: '{"code":"print(6 * 7)"}',
    });
    assert.deepEqual([result?.["role"], result?.["content"]], ["tool", "42"]);
    assert.equal(said?.["content"], "42.");
  });
});

describe("other tools of the server, in the Messages API", () => {
  it("`web_fetch` opens pages with the server's own tool", async (t) => {
    const fetchPage = reply.calls([
      { name: "web_search_open_page", arguments: { url: "https://one.example.org/a" } },
    ]);
    const server = await startWeb(t, fetchPage, reply.text("5."));
    const tools = [{ type: "web_fetch_20250910", name: "web_fetch" }];
    const body = await ask(server, { ...question, tools });
    const [call, result] = body["content"] as Fields[];
    assert.deepEqual(call?.["input"], { url: "https://one.example.org/a" });
    const document = fieldsOf(fieldsOf(result?.["content"])["content"]);
    assert.equal(fieldsOf(document["source"])["data"], "The page says 5.");
    const sent = fieldsOf(server.upstream.requests[0]?.body);
    assert.equal(listOf(sent["tools"]).length, 1);
  });

  it("open only pages that `web_fetch` allows, also beside a search", async (t) => {
    const [one, two] = RESULTS.map(({ url }) =>
      reply.calls([{ name: "web_search_open_page", arguments: { url } }]),
    );
    assert.ok(one && two);
    const fetching = {
      ...{ type: "web_fetch_20250910", name: "web_fetch" },
      allowed_domains: ["one.example.org"],
    };
    for (const tools of [
      [{ ...SEARCH, max_uses: null }, fetching],
      [fetching, { ...SEARCH, max_uses: null }],
    ]) {
      const server = await startWeb(t, one, two, reply.text("5."));
      const body = await ask(server, { ...question, tools });
      const results = listOf(body["content"]).filter(
        ({ type }) => type === "web_fetch_tool_result",
      );
      assert.deepEqual(
        results.map(({ content }) => fieldsOf(content)["type"]),
        ["web_fetch_result", "web_fetch_tool_result_error"],
      );
      assert.equal(body["offshoot"], undefined);
    }
  });

  it("find tools that are deferred", async (t) => {
    const find = reply.calls([{ name: "tool_search", arguments: { query: "weather" } }]);
    const call = reply.calls([{ name: "weather", arguments: {}, call_id: "call_1" }]);
    const server = await startServer(t, script(find, call, reply.text("Blue.")));
    const tools = [
      { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
      {
        name: "weather",
        description: "The sky over a city.",
        defer_loading: true,
        input_schema: { type: "object" },
      },
    ];
    const body = await ask(server, { ...question, tools });
    const content = body["content"] as Fields[];
    assert.deepEqual(
      content.map(({ type }) => type),
      ["server_tool_use", "tool_search_tool_result", "tool_use"],
    );
    assert.equal(content[1]?.["tool_use_id"], content[0]?.["id"]);
    const found = content[1]?.["content"] as { tool_references: object[] };
    assert.deepEqual(found.tool_references, [{ type: "tool_reference", tool_name: "weather" }]);
    const messages = [
      ...question.messages,
      { role: "assistant", content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "blue" }] },
    ];
    await ask(server, { messages, tools });
    const last = server.upstream.requests.at(-1)?.body as {
      tools: { function: { name: string } }[];
    };
    assert.ok(last.tools.some((tool) => tool.function.name === "weather"));
  });
});
