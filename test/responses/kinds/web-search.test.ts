import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import { createWebSearchKind, type WebTools } from "../../../src/responses/kinds/web-search.ts";
import { reply } from "../../../src/testing/reply.ts";
import { defineBuiltin, text } from "../../../src/tools/builtin-tool.ts";
import type { Tool as GateTool } from "../../../src/tools/tool.ts";
import { callsIn, type KindSetup, runKinds, typesOf } from "./kind-run.ts";

const DONE = reply.text("Done.");
const PAGE = { url: "https://a.example", title: "A", snippet: "About a." };

function builtin(name: string, field: string, run: (input: object) => Promise<string>): GateTool {
  return defineBuiltin({
    name,
    description: name,
    readOnly: true,
    effect: "compute",
    parameters: { [field]: text(field) },
    run,
  });
}

const TOOLS: WebTools = {
  search: builtin("search_web", "query", async () => JSON.stringify([PAGE])),
  open: builtin("scrape_webpage", "url", async () => "The whole page."),
};

const called = (name: string, input: object) =>
  reply.calls([{ name, arguments: JSON.stringify(input) }]);

function run(setup: Partial<KindSetup>, tools: WebTools = TOOLS) {
  const kinds = [createWebSearchKind({ tools: async () => tools })];
  return runKinds({ kinds, tools: [{ type: "web_search" }], replies: [DONE], ...setup });
}

const namesIn = (one: Awaited<ReturnType<typeof run>>): unknown[] =>
  (one.requests[0]?.tools ?? []).map((tool) => "name" in tool && tool.name);

describe("web_search", () => {
  it("reports its progress, and shows the question with its sources to those who ask", async () => {
    const replies = [called("web_search", { query: "zebra" }), DONE];
    const include = ["web_search_call.action.sources"];
    const made = await run({ replies, include });
    assert.deepEqual([...new Set(typesOf(made))].slice(0, 5), [
      "output_item.added",
      "web_search_call.in_progress",
      "web_search_call.searching",
      "web_search_call.completed",
      "output_item.done",
    ]);
    const [item] = made.response.output;
    assert.ok(item?.type === "web_search_call");
    assert.deepEqual([item.status, "results" in item], ["completed", false]);
    assert.deepEqual(item.action, {
      type: "search",
      query: "zebra",
      queries: ["zebra"],
      sources: [{ type: "url", url: PAGE.url }],
    });
  });

  it("gives the model the results, whatever the client asked for", async () => {
    const made = await run({ replies: [called("web_search", { query: "zebra" }), DONE] });
    const answered = callsIn(made.requests[1]).at(-1);
    assert.ok(answered?.type === "function_call_output");
    assert.match(String(answered.output), /1\. A\n {3}https:\/\/a\.example/);
  });

  it("opens a page, or looks for words in it, as an action of its own", async () => {
    for (const [input, action] of [
      [{ url: PAGE.url }, { type: "open_page", url: PAGE.url }],
      [
        { url: PAGE.url, pattern: "zebra" },
        { type: "find_in_page", url: PAGE.url, pattern: "zebra" },
      ],
    ]) {
      const made = await run({ replies: [called("web_search_open_page", input ?? {}), DONE] });
      const [item] = made.response.output;
      assert.deepEqual(item?.type === "web_search_call" && item.action, action);
    }
  });

  it("fails with the reason for the model, and without an end of its progress", async () => {
    const search = builtin("search_web", "query", () => Promise.reject(new Error("No network.")));
    const replies = [called("web_search", { query: "zebra" }), DONE];
    const made = await run({ replies }, { ...TOOLS, search });
    const [item] = made.response.output;
    assert.equal(item?.type === "web_search_call" && item.status, "failed");
    assert.ok(!typesOf(made).includes("web_search_call.completed"));
    const answered = callsIn(made.requests[1]).at(-1);
    assert.ok(answered?.type === "function_call_output");
    assert.match(String(answered.output), /No network/);
  });

  const offers: readonly (readonly [string, readonly object[], readonly string[]])[] = [
    [
      "a search and a page",
      [{ type: "web_search_preview" }],
      ["web_search of web_search_preview", "web_search_open_page of web_search_preview"],
    ],
    ["a page alone for web_fetch", [{ type: "web_fetch" }], ["web_search_open_page of web_fetch"]],
    [
      "the search of one tool, and the page of the other that says which pages",
      [{ type: "web_search" }, { type: "web_fetch" }],
      ["web_search of web_search", "web_search_open_page of web_fetch"],
    ],
    ["nothing without access to the web", [{ type: "web_search", external_web_access: false }], []],
  ];
  for (const [what, tools, names] of offers) {
    it(`offers the model ${what}`, async () => {
      const kind = createWebSearchKind({ tools: async () => TOOLS });
      const request = { tools } as unknown as Parameters<typeof kind.open>[1];
      const found: string[] = [];
      for (const tool of tools as readonly Tool[]) {
        const { offers: made } = await kind.open(tool, request);
        found.push(...made.map(({ spec }) => `${spec.name} of ${tool.type}`));
      }
      assert.deepEqual(found.sort(), names);
    });
  }

  it("is left out and named without a tool that searches", async () => {
    const made = await run({}, { search: undefined, open: undefined });
    assert.deepEqual(namesIn(made), []);
    assert.match(String(made.response.offshoot?.ignored), /no search tool/);
  });

  it("says where the user is", async () => {
    const user_location = {
      type: "approximate",
      city: "Oslo",
      country: "NO",
      timezone: "Europe/Oslo",
    };
    const made = await run({ tools: [{ type: "web_search", user_location }] });
    const [tool] = made.requests[0]?.tools ?? [];
    assert.ok(tool?.type === "function");
    assert.match(String(tool.description), /in Oslo, NO\. .*time zone is Europe\/Oslo/);
  });

  const searched = (fields: object): Item =>
    ({
      type: "web_search_call",
      id: "ws_1",
      action: { type: "search", query: "a" },
      ...fields,
    }) as Item;
  const told: readonly (readonly [string, object, RegExp])[] = [
    ["its results", { results: [PAGE] }, /1\. A/],
    [
      "its sources if its results were not kept",
      { action: { type: "search", query: "a", sources: [{ url: PAGE.url }] } },
      /1\. https:\/\/a\.example/,
    ],
    ["that nothing was found", { results: [] }, /^Nothing was found\.$/],
    ["that its results were not kept", {}, /^The results were not kept\.$/],
    ["that it failed", { status: "failed" }, /^The search failed\.$/],
    ["why it failed", { status: "failed", error: { message: "No network." } }, /^No network\.$/],
  ];
  for (const [what, fields, expected] of told) {
    it(`tells a later model of an earlier search: ${what}`, async () => {
      const made = await run({ items: [searched(fields)] });
      const [asked, answered] = callsIn(made.requests[0]);
      assert.ok(asked?.type === "function_call" && answered?.type === "function_call_output");
      assert.deepEqual(JSON.parse(asked.arguments), { query: "a" });
      assert.match(String(answered.output), expected);
    });
  }
});
