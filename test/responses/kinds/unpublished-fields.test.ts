/**
 * Fields of items that are not checked, because the published API does not have them: clients and vendors may write
 * anything there. A value that is not text is not shown to a model as text.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Item, parseItem } from "../../../src/protocol/items.ts";
import { createCitations } from "../../../src/responses/bridge/citations.ts";
import { createFileSearchKind } from "../../../src/responses/kinds/file-search.ts";
import { createImageKind } from "../../../src/responses/kinds/image-generation.ts";
import { createMcpKind, NO_SERVERS } from "../../../src/responses/kinds/mcp.ts";
import { createWebSearchKind } from "../../../src/responses/kinds/web-search.ts";

const KINDS = [
  createWebSearchKind({ tools: async () => ({ search: undefined, open: undefined }) }),
  // It is not opened: it reads items alone.
  createFileSearchKind(undefined as never),
  createImageKind({ open: undefined }),
  createMcpKind({ connect: NO_SERVERS }),
];

/** The result that a model reads. */
function outputOf(given: object): unknown {
  const item = parseItem(given);
  const kind = KINDS.find(({ itemTypes }) => itemTypes.includes(item.type));
  const functions = kind?.toFunctions(item, (key) => key) ?? [];
  for (const one of functions) parseItem(one);
  const result = functions.find((one) => one.type === "function_call_output");
  return result?.output;
}

const WRONG = [7, true, [], {}, [null], [7], [[]], [{ url: 7, title: {}, text: [], snippet: 7 }]];
const SEARCH = { type: "web_search_call", id: "ws_1", status: "completed" };
const ACTION = { type: "search", query: "tides" };
const MCP = { type: "mcp_call", id: "m", server_label: "a", name: "f", arguments: "{}" };

describe("a field that the published item does not have", () => {
  for (const wrong of WRONG) {
    const told = JSON.stringify(wrong);

    it(`is not taken for the results of a search where it is ${told}`, () => {
      const output = outputOf({ ...SEARCH, action: ACTION, results: wrong });
      assert.match(String(output), /^(Nothing was found|The results were not kept)\.$/);
    });

    it(`is not taken for pages to cite where it is ${told}`, () => {
      const item = parseItem({ ...SEARCH, action: ACTION, results: wrong });
      assert.equal(createCitations([item]), undefined);
    });

    it(`is not taken for the reason of a failed call if it is ${told}`, () => {
      const error = { message: wrong };
      const failed = { id: "c", status: "failed", error };
      const search = outputOf({ ...SEARCH, ...failed });
      const files = outputOf({ type: "file_search_call", queries: ["a"], ...failed });
      const picture = outputOf({ type: "image_generation_call", ...failed, result: null });
      for (const output of [search, files, picture]) {
        assert.equal(typeof output, "string");
        assert.doesNotMatch(String(output), /object Object|undefined/);
      }
      for (const other of [wrong, null]) outputOf({ ...SEARCH, status: "failed", error: other });
    });

    it(`is not taken for the output of a server's tool if it is ${told}`, () => {
      const error = { type: "mcp_tool_execution_error", content: [{ type: "text", text: wrong }] };
      assert.equal(outputOf({ ...MCP, error }), "");
      const listed = outputOf({ ...MCP, error: { content: wrong } });
      assert.equal(typeof listed, "string");
      assert.doesNotMatch(String(listed), /object Object/);
    });
  }

  it("is read where it is as this server writes it", () => {
    const results = [{ url: "https://a.example", title: "A", snippet: "Tides." }];
    assert.match(String(outputOf({ ...SEARCH, action: ACTION, results })), /1\. A\n {3}https:/);
    const item = parseItem({ ...SEARCH, action: ACTION, results });
    assert.ok(createCitations([item as Item]));
    const error = { message: "No network." };
    assert.equal(outputOf({ ...SEARCH, status: "failed", error }), "No network.");
  });
});

describe("a passage of a file", () => {
  it("has no marker where its file has no id", () => {
    const found = { type: "file_search_call", queries: ["a"], results: [{ text: "Tides." }] };
    assert.equal(outputOf(found), "\nTides.");
  });
});

describe("a source of a search that the vendor made", () => {
  it("is named by its address, and left out if that is invalid", () => {
    const sources = [{ url: {} }, { url: 7, title: [] }, { url: "https://a.example" }];
    const output = String(outputOf({ ...SEARCH, action: { ...ACTION, sources } }));
    assert.match(output, /^1\. https:\/\/a\.example\n/);
  });
});
