import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import OpenAI, { toFile } from "openai";
import { Failure } from "../../../src/base/failure.ts";
import type { Json } from "../../../src/base/json.ts";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import { type Reply, reply, script } from "../../../src/testing/index.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { checkPublished } from "../../conformance/check.ts";
import { startServer, type TestServer } from "../../server/server-fixture.ts";
import { newDatabasePath } from "../../store/database-path.ts";

/** A tool in place of one that would reach the network. `answer` gets its arguments. */
function standIn(name: string, properties: object, answer: (input: Json) => Json): Tool {
  const parameters = { type: "object", properties } as NonNullable<Tool["spec"]["parameters"]>;
  return {
    spec: { type: "function", name, description: "", parameters, strict: false },
    readOnly: true,
    effect: "network",
    parse: (input) => input,
    run: async (input) => answer(input as Json),
  };
}

const RESULTS = [
  { title: "One", url: "https://one.example.org/a", description: "The first." },
  { title: "Two", url: "https://two.example.com/b", description: "The second." },
];

interface Web {
  readonly server: TestServer;
  /** The arguments of the calls. */
  readonly asked: Json[];
}

async function startWeb(t: TestContext, ...replies: readonly Reply[]): Promise<Web> {
  const asked: Json[] = [];
  const note = (answer: Json) => (input: Json) => {
    asked.push(input);
    return answer;
  };
  const page = "# Page\n\nNothing.\n\nThe price is 5.\n\nThe end.";
  const tools = [
    standIn("search_web", { query: {}, count: {} }, note(RESULTS)),
    standIn("scrape_webpage", { url: {} }, note(page)),
  ];
  return { server: await startServer(t, script(...replies), { tools }), asked };
}

const search = (query: string): Reply =>
  reply.calls([{ name: "web_search", arguments: { query } }]);

function itemsOf<Item>({ output }: EmittedResponse, type: string): Item[] {
  return output.filter((item) => item.type === type) as unknown as Item[];
}

interface WebCall {
  readonly status: string;
  readonly action: { readonly type: string; readonly sources?: unknown };
  readonly results?: unknown;
  readonly error?: { readonly message: string };
}

function sentMessages({ upstream }: TestServer): { role: string; content: string }[] {
  const body = upstream.requests.at(-1)?.body as { messages: { role: string; content: string }[] };
  return body.messages;
}

describe("web_search", () => {
  it("is made by the server, shown as its own item, and cited with exact positions", async (t) => {
    const answer = "It is the [first](https://one.example.org/a).";
    const { server, asked } = await startWeb(t, search("the first"), reply.text(answer));
    const response = await server.create({ input: "Which?", tools: [{ type: "web_search" }] });
    assert.deepEqual(asked, [{ query: "the first", count: 10 }]);
    const [call] = itemsOf<WebCall>(response, "web_search_call");
    checkPublished("WebSearchToolCall", call);
    assert.deepEqual(call?.action, { type: "search", query: "the first", queries: ["the first"] });
    assert.deepEqual([call?.status, call?.results], ["completed", undefined]);
    const [message] = itemsOf<{ content: { annotations: object[] }[] }>(response, "message");
    assert.deepEqual(message?.content[0]?.annotations, [
      {
        type: "url_citation",
        url: "https://one.example.org/a",
        title: "One",
        start_index: 10,
        end_index: 44,
      },
    ]);
    const told = sentMessages(server).at(-1);
    assert.equal(told?.role, "tool");
    assert.match(
      told?.content ?? "",
      /1\. One\n {3}https:\/\/one\.example\.org\/a\n {3}The first\./,
    );
  });

  it("streams its events in order, with the annotations before the text is done", async (t) => {
    const answer = "See https://two.example.com/b now.";
    const { server } = await startWeb(t, search("x"), reply.text(answer));
    const events = await server.stream({ input: "?", tools: [{ type: "web_search_preview" }] });
    const types: string[] = events.map(({ type }) => type);
    const wanted = [
      "response.output_item.added",
      "response.web_search_call.in_progress",
      "response.web_search_call.searching",
      "response.web_search_call.completed",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.annotation.added",
      "response.output_text.done",
    ];
    const places = wanted.map((type, at) =>
      types.indexOf(type, at === 5 ? types.indexOf(wanted[4] ?? "") : 0),
    );
    assert.deepEqual(
      [...places].sort((a, b) => a - b),
      places,
    );
    const added = events.find(({ type }) => type === "response.output_text.annotation.added");
    checkPublished("ResponseOutputTextAnnotationAddedEvent", added);
  });

  it("shows sources and results if requested", async (t) => {
    const { server } = await startWeb(t, search("x"), reply.text("Done."));
    const response = await server.create({
      input: "?",
      tools: [{ type: "web_search" }],
      include: ["web_search_call.results", "web_search_call.action.sources"],
    });
    const [call] = itemsOf<WebCall>(response, "web_search_call");
    assert.deepEqual(
      call?.action.sources,
      RESULTS.map(({ url }) => ({ type: "url", url })),
    );
    assert.deepEqual(
      call?.results,
      RESULTS.map(({ url, title, description }) => ({ url, title, snippet: description })),
    );
  });

  it("obeys the requested domains, size and location", async (t) => {
    const open = (url: string): Reply =>
      reply.calls([{ name: "web_search_open_page", arguments: { url } }]);
    const { server, asked } = await startWeb(
      t,
      search("x"),
      open("https://two.example.com/b"),
      reply.text("Done."),
    );
    const response = await server.create({
      input: "?",
      tools: [
        {
          type: "web_search",
          filters: { allowed_domains: ["https://example.org"] },
          search_context_size: "low",
          user_location: { type: "approximate", city: "Paris", country: "FR" },
        },
      ],
      include: ["web_search_call.results"],
    });
    assert.deepEqual(asked, [{ query: "x site:example.org", count: 5 }]);
    const [found, refused] = itemsOf<WebCall>(response, "web_search_call");
    assert.equal((found?.results as object[] | undefined)?.length, 1);
    assert.equal(refused?.status, "failed");
    assert.match(refused?.error?.message ?? "", /outside of the allowed domains: example\.org/);
    const sent = JSON.stringify(server.upstream.requests[0]?.body);
    assert.match(sent, /The user is in Paris, FR\./);
  });

  it("opens pages and finds words in them", async (t) => {
    const call = (more: object): Reply =>
      reply.calls([
        { name: "web_search_open_page", arguments: { url: "https://one.example.org/a", ...more } },
      ]);
    const { server } = await startWeb(t, call({}), call({ pattern: "PRICE" }), reply.text("5."));
    const response = await server.create({ input: "?", tools: [{ type: "web_search" }] });
    const calls = itemsOf<WebCall>(response, "web_search_call");
    for (const one of calls) checkPublished("WebSearchToolCall", one);
    const url = "https://one.example.org/a";
    assert.deepEqual(
      calls.map(({ action }) => action),
      [
        { type: "open_page", url },
        { type: "find_in_page", url, pattern: "PRICE" },
      ],
    );
    assert.equal(sentMessages(server).at(-1)?.content, "The price is 5.");
  });

  it("gives the model the error, and continues", async (t) => {
    const broken = standIn("search_web", { query: {} }, () => {
      throw new Failure("tool_failed", "The service is down.");
    });
    const server = await startServer(t, script(search("x"), reply.text("Sorry.")), {
      tools: [broken],
    });
    const response = await server.create({ input: "?", tools: [{ type: "web_search" }] });
    assert.equal(response.status, "completed");
    assert.equal(itemsOf<WebCall>(response, "web_search_call")[0]?.status, "failed");
    assert.equal(sentMessages(server).at(-1)?.content, "Error: The service is down.");
  });

  it("is searched by a tool with other argument names that returns plain text", async (t) => {
    const asked: Json[] = [];
    const other = standIn("search_web", { q: {}, max_results: {} }, (input) => {
      asked.push(input);
      return "Found https://one.example.org/a.";
    });
    const answers = script(search("x"), reply.text("https://one.example.org/a"));
    const server = await startServer(t, answers, { tools: [other] });
    const response = await server.create({
      input: "?",
      tools: [{ type: "web_search_2025_08_26" }],
      include: ["web_search_call.action.sources"],
    });
    assert.deepEqual(asked, [{ q: "x", max_results: 10 }]);
    const [call] = itemsOf<WebCall>(response, "web_search_call");
    assert.deepEqual(call?.action.sources, [{ type: "url", url: "https://one.example.org/a" }]);
    assert.equal(sentMessages(server).at(-1)?.content, "Found https://one.example.org/a.");
  });

  it("is left out, and named, if the outside must not be reached", async (t) => {
    const { server } = await startWeb(t, reply.text("No."));
    const response = await server.create({
      input: "?",
      tools: [{ type: "web_search", external_web_access: false }],
    });
    assert.equal(response.output_text, "No.");
    assert.match(JSON.stringify(response.metadata), /external_web_access/);
  });
});

async function startFiled(t: TestContext, ...replies: readonly Reply[]) {
  const server = await startServer(t, script(...replies));
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
  return { server, client };
}

describe("file_search", () => {
  it("is made by the server, shown as its own item, and cited", async (t) => {
    const { server, client } = await startFiled(
      t,
      reply.calls([{ name: "file_search", arguments: { queries: ["refund", "money back"] } }]),
      reply.text("Thirty days 【refunds.md】."),
    );
    const store = await client.vectorStores.create({});
    const content = "Refunds are paid within thirty days.";
    const added = await client.vectorStores.files.uploadAndPoll(
      store.id,
      await toFile(Buffer.from(content), "refunds.md"),
      { pollIntervalMs: 5 },
    );
    const file = added.id;
    const response = await server.create({
      input: "How long?",
      tools: [{ type: "file_search", vector_store_ids: [store.id] }],
      include: ["file_search_call.results"],
    });
    const [call] = itemsOf<{ queries: string[]; results: object[] }>(response, "file_search_call");
    checkPublished("FileSearchToolCall", call);
    assert.deepEqual(call?.queries, ["refund", "money back"]);
    const { score, ...result } = (call?.results[0] ?? {}) as { score: number };
    assert.ok(score > 0 && score <= 1);
    assert.deepEqual(result, {
      file_id: file,
      filename: "refunds.md",
      text: content,
      attributes: {},
      vector_store_id: store.id,
    });
    assert.equal(response.output_text, "Thirty days.");
    const [message] = itemsOf<{ content: { annotations: object[] }[] }>(response, "message");
    assert.deepEqual(message?.content[0]?.annotations, [
      {
        type: "file_citation",
        file_id: file,
        filename: "refunds.md",
        index: 11,
        quote: content,
        start_index: 0,
        end_index: 11,
      },
    ]);
    assert.equal(sentMessages(server).at(-1)?.content, `【${file}】 refunds.md\n${content}`);
  });

  it("continues from what an earlier response found, and hides results that were not requested", async (t) => {
    const { server, client } = await startFiled(
      t,
      reply.calls([{ name: "file_search", arguments: { queries: ["answer"] } }]),
      reply.text("It is there."),
      reply.text("As I said."),
    );
    const store = await client.vectorStores.create({});
    await client.vectorStores.files.uploadAndPoll(
      store.id,
      await toFile(Buffer.from("The answer is forty-two."), "a.txt"),
      { pollIntervalMs: 5 },
    );
    const tools = [{ type: "file_search", vector_store_ids: [store.id] }];
    const first = await server.create({ input: "?", tools });
    const [call] = itemsOf<{ results: unknown }>(first, "file_search_call");
    assert.equal(call?.results, null);
    await server.create({ input: "Again?", previous_response_id: first.id, tools });
    const told = sentMessages(server).find(({ role }) => role === "tool");
    assert.match(told?.content ?? "", /The answer is forty-two\./);
  });

  it("searches the stores of two such tools at once", async (t) => {
    const { server, client } = await startFiled(
      t,
      reply.calls([{ name: "file_search", arguments: { queries: ["answer"] } }]),
      reply.text("Both."),
    );
    const stores: string[] = [];
    for (const name of ["a.txt", "b.txt"]) {
      const { id } = await client.vectorStores.create({});
      const file = await toFile(Buffer.from(`The answer of ${name}`), name);
      await client.vectorStores.files.uploadAndPoll(id, file, { pollIntervalMs: 5 });
      stores.push(id);
    }
    const response = await server.create({
      input: "?",
      tools: stores.map((id) => ({ type: "file_search", vector_store_ids: [id] })),
      include: ["file_search_call.results"],
    });
    const [call] = itemsOf<{ results: { filename: string }[] }>(response, "file_search_call");
    assert.deepEqual(
      call?.results.map(({ filename }) => filename),
      ["a.txt", "b.txt"],
    );
  });

  it("fails with one line for a missing store, or another tenant's", async (t) => {
    const storePath = newDatabasePath();
    const server = await startServer(t, script(reply.text("Never.")), { storePath });
    const other = { storePath, caller: { tenant: "other" } };
    const neighbour = await startServer(t, script(reply.text("Never.")), other);
    const { body } = await neighbour.ask("POST", "/v1/vector_stores", {});
    for (const id of ["vs_none", (body as { id: string }).id]) {
      const made = await server.ask("POST", "/v1/responses", {
        input: "?",
        tools: [{ type: "file_search", vector_store_ids: [id] }],
      });
      assert.equal(made.status, 400);
      assert.match(JSON.stringify(made.body), new RegExp(`There is no vector store .${id}`));
    }
    assert.equal(server.upstream.requests.length, 0);
  });
});
