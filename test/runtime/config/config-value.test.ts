import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkConfigValue } from "../../../src/runtime/config/config-value.ts";

describe("the MCP tool that replaces a kind", () => {
  const check = (map: object): unknown => checkConfigValue("server.backing", map, "config.yaml");

  it("is a tool of an MCP server, with or without names for its arguments", () => {
    const map = {
      web_search: "x/search",
      shell: { tool: "x/run", arguments: { commands: "line" } },
    };
    assert.deepEqual(check(map), map);
  });

  it("is refused in one line if it is not a tool, or the kind is unknown", () => {
    assert.throws(() => check({ web_search: "search" }), {
      message: 'config.yaml: `web_search` must name a tool of an MCP server, as "server/tool".',
    });
    assert.throws(() => check({ websearch: "x/search" }), {
      message: /^config.yaml: no MCP tool can replace `websearch`, only web_search, /,
    });
  });
});
