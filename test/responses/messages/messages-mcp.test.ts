import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toMcpTools } from "../../../src/responses/messages/messages-mcp.ts";
import type { MessagesRequest } from "../../../src/responses/messages/messages-request.ts";

const SERVER = { type: "url", name: "files", url: "https://mcp.example.org" };
const MADE = {
  type: "mcp",
  server_label: "files",
  server_url: "https://mcp.example.org",
  require_approval: "never",
};
const toolset = (more: object = {}): object => ({
  type: "mcp_toolset",
  mcp_server_name: "files",
  ...more,
});

function read(server: object, ...tools: object[]): unknown[] {
  const request = { messages: [], mcp_servers: [{ ...SERVER, ...server }], tools };
  return toMcpTools(request as unknown as MessagesRequest);
}

describe("an MCP server of a Messages request", () => {
  const chosen: readonly (readonly [string, object, object])[] = [
    ["all tools with a bare toolset", toolset(), {}],
    [
      "all but those that are switched off",
      toolset({ configs: { write: { enabled: false }, read: {} } }),
      { allowed_tools: { except: ["write"] } },
    ],
    [
      "only those that are switched on, if the others are off",
      toolset({
        default_config: { enabled: false },
        configs: { read: { enabled: true }, write: {} },
      }),
      { allowed_tools: ["read"] },
    ],
    [
      "none, if all are off",
      toolset({ default_config: { enabled: false } }),
      { allowed_tools: [] },
    ],
    [
      "tools that load late",
      toolset({ default_config: { defer_loading: true } }),
      { defer_loading: true },
    ],
  ];
  for (const [what, tool, fields] of chosen) {
    it(`has ${what}`, () => assert.deepEqual(read({}, tool), [{ ...MADE, ...fields }]));
  }

  it("has the tools that its own entry allows, in the older form", () => {
    const allowed = { tool_configuration: { allowed_tools: ["read"] } };
    assert.deepEqual(read(allowed), [{ ...MADE, allowed_tools: ["read"] }]);
    assert.deepEqual(read({}), [MADE]);
    assert.deepEqual(read({ tool_configuration: { enabled: false } }), []);
  });

  it("gets the client's token", () => {
    assert.deepEqual(read({ authorization_token: "t" }), [{ ...MADE, authorization: "t" }]);
  });

  it("is named if a toolset is of no server of the request, clipped", () => {
    for (const name of ["nope", "x".repeat(500), undefined]) {
      assert.throws(
        () => read({}, toolset({ mcp_server_name: name })),
        (thrown: Error) => {
          assert.match(thrown.message, /`tools\[0\]\.mcp_server_name`/);
          return thrown.message.length < 200;
        },
      );
    }
  });
});
