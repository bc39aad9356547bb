import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { findBackingTool } from "../../../src/responses/kinds/mcp-backing.ts";
import type { Tool } from "../../../src/tools/tool.ts";

const text = { type: "string" };

function toolbox(properties: JsonObject, required: readonly string[] = []) {
  const tool: Tool = {
    spec: {
      type: "function",
      name: "mcp__brave__search",
      strict: false,
      parameters: { type: "object", properties, required },
    },
    readOnly: false,
    effect: "external",
    parse: (input) => input,
    run: async (input) => input as Json,
  };
  return {
    async pick(names: readonly string[]) {
      assert.deepEqual(names, ["mcp__brave__search"]);
      return [tool];
    },
  };
}

describe("a kind whose calls go to an MCP server", () => {
  it("gives its text to the tool's first text that must be there", async () => {
    const tools = toolbox({ country: text, count: { type: "integer" }, q: text }, ["q"]);
    const tool = await findBackingTool({ web_search: "brave/search" }, "web_search", tools);
    assert.deepEqual(tool?.parse({ query: "cats", domains: ["x.org"] }), { q: "cats" });
  });

  it("keeps arguments that the tool knows under the same name", async () => {
    const tools = toolbox({ place: text, query: text });
    const tool = await findBackingTool({ web_search: "brave/search" }, "web_search", tools);
    assert.deepEqual(tool?.parse({ query: "cats" }), { query: "cats" });
  });

  it("gives several texts as one to a tool that takes one, and as they are to one that takes several", async () => {
    const given = { queries: ["cats", "dogs"] };
    const one = await findBackingTool(
      { file_search: "brave/search" },
      "file_search",
      toolbox({ q: text }),
    );
    assert.deepEqual(one?.parse(given), { q: "cats\ndogs" });
    const queries = { type: "array", items: text };
    const many = await findBackingTool(
      { file_search: "brave/search" },
      "file_search",
      toolbox({ queries }),
    );
    assert.deepEqual(many?.parse(given), given);
  });

  it("takes the names of the setting before its own guesses", async () => {
    const tools = toolbox({ q: text, words: text }, ["q"]);
    const backing = { tool: "brave/search", arguments: { query: "words" } };
    const tool = await findBackingTool({ web_search: backing }, "web_search", tools);
    assert.deepEqual(tool?.parse({ query: "cats" }), { words: "cats" });
  });

  it("gives a named argument its place before any other text takes it", async () => {
    const backing = { tool: "brave/search", arguments: { diff: "q" } };
    const tool = await findBackingTool(
      { apply_patch: backing },
      "apply_patch",
      toolbox({ q: text }),
    );
    assert.deepEqual(tool?.parse({ type: "update_file", diff: "@@" }), { q: "@@" });
  });

  it("is not offered if the settings name no server, and an error of one line if they are wrong", async () => {
    const tools = toolbox({});
    assert.equal(await findBackingTool({}, "web_search", tools), undefined);
    await assert.rejects(findBackingTool({ web_search: "search" }, "web_search", tools), {
      code: "invalid_request",
      message: 'The tool for `web_search`: `search` must be written as "server/tool".',
    });
  });
});
