/** Deferred tools, which the model gets only after a search by the server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { collectTools } from "../../../src/responses/kinds/collect-tools.ts";
import { CUSTOM_KIND } from "../../../src/responses/kinds/custom.ts";
import { createMcpKind } from "../../../src/responses/kinds/mcp.ts";
import { NAMESPACE_KIND } from "../../../src/responses/kinds/namespace.ts";
import { TOOL_SEARCH_KIND } from "../../../src/responses/kinds/tool-search.ts";
import { reply } from "../../../src/testing/reply.ts";
import type { Tool as GateTool } from "../../../src/tools/tool.ts";
import { callsIn, type KindSetup, runKinds, typesOf } from "./kind-run.ts";

const gateTool = (name: string): GateTool => ({
  spec: { type: "function", name, description: `${name} a page.`, strict: false },
  readOnly: true,
  effect: "own",
  parse: (input) => input,
  run: async () => `${name} done`,
});

const connect = async () => ({
  tools: ["fetch", "print"].map((name) => ({ tool: gateTool(name), isReadOnly: true })),
  close: async () => {},
});
const KINDS = [CUSTOM_KIND, NAMESPACE_KIND, createMcpKind({ connect }), TOOL_SEARCH_KIND];
const run = (setup: Omit<KindSetup, "kinds">) => runKinds({ kinds: KINDS, ...setup });

const SEARCH = { type: "tool_search" };
const later = (name: string, description: string, more: object = {}) => ({
  type: "function",
  name,
  description,
  strict: false,
  defer_loading: true,
  parameters: { type: "object", properties: {} },
  ...more,
});
const CRM = {
  type: "namespace",
  name: "crm",
  description: "Customers and their orders.",
  tools: [later("listOpenOrders", "Lists what was not sent yet."), later("refund", "Pays back.")],
};
const PAGES = {
  type: "mcp",
  server_label: "pages",
  server_url: "https://pages.example.org",
  server_description: "Web pages.",
  require_approval: "never",
  defer_loading: true,
  authorization: "secret",
  headers: { "x-key": "secret" },
};
const WEATHER = later("weather", "The sky over a city.", {
  parameters: { type: "object", properties: { town: { type: "string", description: "Place." } } },
});
const NOW = { type: "function", name: "now", description: "The time.", strict: false };

const namesOf = (request: ModelRequest | undefined): string[] =>
  (request?.tools ?? []).map((tool) => (tool.type === "function" ? tool.name : tool.type));
const searching = (given: object) =>
  reply.calls([{ name: "tool_search", arguments: JSON.stringify(given) }]);

/** The result of a search with these arguments, by the names that the model may call. */
async function find(tools: readonly object[], given: object): Promise<string[]> {
  const replies = [searching(given), reply.text("Ok")];
  const { requests } = await run({ tools: [SEARCH, ...tools], replies });
  const before = namesOf(requests[0]);
  return namesOf(requests[1]).filter((name) => !before.includes(name));
}

describe("a search for tools that the server makes", () => {
  it("offers what it found from the next turn on, and shows it as two items", async () => {
    const replies = [
      searching({ query: "weather" }),
      reply.calls([{ name: "weather", arguments: "{}" }]),
    ];
    const asked = await run({ tools: [SEARCH, NOW, WEATHER, CRM], replies });
    assert.deepEqual(namesOf(asked.requests[0]), ["now", "tool_search"]);
    assert.deepEqual(namesOf(asked.requests[1]), ["now", "tool_search", "weather"]);
    const [call, output, made] = asked.response.output as Item[];
    assert.ok(call?.type === "tool_search_call" && output?.type === "tool_search_output");
    assert.match(call.id ?? "", /^tsc_/);
    assert.match(output.id ?? "", /^tso_/);
    assert.deepEqual(
      [call.execution, call.call_id, call.status, call.arguments],
      ["server", null, "completed", { query: "weather" }],
    );
    assert.deepEqual(
      [output.execution, output.call_id, output.status, output.tools],
      ["server", null, "completed", [WEATHER]],
    );
    assert.ok(made?.type === "function_call");
    assert.deepEqual(typesOf(asked).slice(0, 4), [
      ...["output_item.added", "output_item.done", "output_item.added", "output_item.done"],
    ]);
    assert.equal(asked.response.metadata["offshoot_ignored"], undefined);
    const [before, after] = callsIn(asked.requests[1]);
    assert.ok(before?.type === "function_call" && after?.type === "function_call_output");
    assert.deepEqual([before.name, after.output], ["tool_search", "Found: weather."]);
    assert.equal(before.call_id, after.call_id);
  });

  it("tells the model what there is to find: groups by name alone, functions one by one", async () => {
    const tools = [SEARCH, WEATHER, CRM, PAGES];
    const { requests } = await run({ tools, replies: [reply.text("Hi")] });
    const [offered] = requests[0]?.tools ?? [];
    assert.ok(offered?.type === "function");
    assert.match(offered.description ?? "", /- crm: Customers and their orders. \(2 tools\)/);
    assert.match(offered.description ?? "", /- pages: Web pages. \(2 tools\)/);
    assert.match(offered.description ?? "", /- weather: The sky over a city./);
    assert.doesNotMatch(offered.description ?? "", /refund|fetch/);
  });

  for (const [given, names] of [
    [{ paths: ["crm"] }, ["crm__listOpenOrders", "crm__refund"]],
    [{ paths: ["CRM.refund"] }, ["crm__refund"]],
    [{ paths: ["refund", "weather"] }, ["weather", "crm__refund"]],
    [{ query: "orders that are open" }, ["crm__listOpenOrders"]],
    [{ query: "town" }, ["weather"]],
    [{ paths: ["crm"], query: "refund" }, ["crm__refund"]],
    [{ paths: ["sky"] }, ["weather"]],
    [{ q: "sky" }, ["weather"]],
    [{ paths: ["pages"] }, ["pages__fetch", "pages__print"]],
    [{ query: "fetch" }, ["pages__fetch"]],
    [{ query: "unicorns" }, []],
  ] as const) {
    it(`finds ${names.join(", ") || "nothing"} with ${JSON.stringify(given)}`, async () => {
      assert.deepEqual(await find([WEATHER, CRM, PAGES], given), names);
    });
  }

  it("finds at most as many as asked for, and a bounded number in any case", async () => {
    const many = Array.from({ length: 200 }, (_, at) => later(`sky_${at}`, "Of the sky."));
    assert.equal((await find(many, { query: "sky", limit: 3 })).length, 3);
    assert.equal((await find(many, { query: "sky" })).length, 8);
    assert.equal((await find(many, { query: "sky", limit: 1000 })).length, 50);
    const { requests } = await run({ tools: [SEARCH, ...many], replies: [reply.text("Hi")] });
    const [offered] = requests[0]?.tools ?? [];
    assert.ok(offered?.type === "function" && (offered.description?.length ?? 0) < 9000);
  });

  it("shows nothing of a server that opens it, and calls what it found there", async () => {
    const call = { name: "pages__fetch", arguments: "{}" };
    const replies = [searching({ paths: ["pages.fetch"] }), reply.calls([call]), reply.text("Ok")];
    const { response, requests } = await run({ tools: [SEARCH, PAGES], replies });
    const output = response.output.find(({ type }) => type === "tool_search_output");
    assert.deepEqual(JSON.parse(JSON.stringify(output)).tools, [
      {
        type: "mcp",
        server_label: "pages",
        server_url: "https://pages.example.org",
        server_description: "Web pages.",
        require_approval: "never",
        defer_loading: true,
        allowed_tools: ["fetch"],
      },
    ]);
    assert.deepEqual(namesOf(requests[1]), ["tool_search", "pages__fetch"]);
    const made = response.output.find(({ type }) => type === "mcp_call");
    assert.ok(made?.type === "mcp_call");
    assert.equal(made.output, "fetch done");
  });

  it("knows in the next response what was found before, also where its tools are not sent", async () => {
    const replies = [searching({ paths: ["refund", "pages.fetch"] }), reply.text("Ok")];
    const tools = [SEARCH, WEATHER, CRM, PAGES];
    const { items } = await run({ tools, replies });
    const again = await run({ tools, items, replies: [reply.text("Ok")] });
    const names = ["tool_search", "crm__refund", "pages__fetch"];
    assert.deepEqual(namesOf(again.requests[0]), names);
    assert.deepEqual(
      callsIn(again.requests[0]).map((item) => "call_id" in item && item.call_id),
      Array.from({ length: 2 }, () => (items[1] as { readonly id?: string }).id),
    );
    const bare = await run({ tools: collectTools(items, []), items, replies: [reply.text("Ok")] });
    assert.deepEqual(namesOf(bare.requests[0]), ["crm__refund"]);
  });

  it("pairs searches side by side with what each of them found", async () => {
    const both = ["weather", "refund"].map((path) => {
      return { name: "tool_search", arguments: JSON.stringify({ paths: [path] }) };
    });
    const { requests } = await run({
      tools: [SEARCH, WEATHER, CRM],
      replies: [reply.calls(both), reply.text("Ok")],
    });
    const results = new Map(
      callsIn(requests[1]).flatMap((item) =>
        item.type === "function_call_output" ? [[item.call_id, item.output]] : [],
      ),
    );
    const read = callsIn(requests[1]).flatMap((item) =>
      item.type === "function_call" ? [[item.arguments, results.get(item.call_id)]] : [],
    );
    assert.deepEqual(read, [
      ['{"paths":["weather"]}', "Found: weather."],
      ['{"paths":["refund"]}', "Found: crm__refund."],
    ]);
  });

  it("calls a tool that was never found", async () => {
    const calls = [{ name: "crm__refund", arguments: "{}" }];
    const { response } = await run({ tools: [SEARCH, CRM], replies: [reply.calls(calls)] });
    const [made] = response.output;
    assert.ok(made?.type === "function_call");
    assert.deepEqual([made.name, made.namespace], ["refund", "crm"]);
  });

  it("offers at once what the request's choice names", async () => {
    for (const [toolChoice, names] of [
      [{ type: "function", name: "weather" }, ["tool_search", "weather"]],
      [
        { type: "allowed_tools", mode: "auto", tools: [{ type: "custom", name: "sql" }] },
        ["tool_search", "sql"],
      ],
    ] as const) {
      const sql = { type: "custom", name: "sql", defer_loading: true };
      const tools = [SEARCH, WEATHER, sql, CRM];
      const { requests } = await run({
        tools,
        replies: [reply.text("Hi")],
        toolChoice: toolChoice as never,
      });
      assert.deepEqual(namesOf(requests[0]), names);
    }
  });

  it("is left out and reported if there is nothing to find", async () => {
    const tools = [SEARCH, NOW];
    const { requests, response } = await run({ tools, replies: [reply.text("Hi")] });
    assert.deepEqual(namesOf(requests[0]), ["now"]);
    assert.match(response.metadata["offshoot_ignored"] ?? "", /tool_search/);
  });

  it("is not needed: without it everything is offered at once", async () => {
    const { requests } = await run({ tools: [WEATHER, CRM], replies: [reply.text("Hi")] });
    assert.deepEqual(namesOf(requests[0]), ["weather", "crm__listOpenOrders", "crm__refund"]);
  });

  it("leaves to a client that searches itself what it holds back", async () => {
    const tools = [{ ...SEARCH, execution: "client" }, WEATHER];
    const asked = await run({ tools, replies: [searching({ query: "sky" })] });
    assert.deepEqual(namesOf(asked.requests[0]), ["tool_search"]);
    const [call] = asked.response.output as Item[];
    assert.ok(call?.type === "tool_search_call");
    const found = { type: "tool_search_output", call_id: call.call_id, tools: [WEATHER] } as Item;
    const items = [...asked.items, found];
    const all = collectTools(items, tools as Tool[]);
    const next = await run({ tools: all, items, replies: [reply.text("Ok")] });
    assert.deepEqual(namesOf(next.requests[0]), ["tool_search", "weather"]);
  });
});
