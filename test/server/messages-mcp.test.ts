/** MCP servers of a Messages request: which of their tools a model is offered. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { startSmallServer } from "../runtime/small-mcp-server.ts";
import { startServer } from "./server-bench.ts";

const settings = { web: { privateHosts: ["127.0.0.1"] } };

/** By what the request says, the tools of the server (`look` and `change`) that are offered. */
const ROWS: Readonly<Record<string, [object, object | undefined, readonly string[]]>> = {
  "says nothing of them": [{}, undefined, ["look", "change"]],
  "has a set of all": [{}, {}, ["look", "change"]],
  "has a set of none but one": [
    {},
    { default_config: { enabled: false }, configs: { look: { enabled: true } } },
    ["look"],
  ],
  "has a set of all but one": [{}, { configs: { change: { enabled: false } } }, ["look"]],
  "names them with the server": [
    { tool_configuration: { allowed_tools: ["change"] } },
    undefined,
    ["change"],
  ],
  "switches the server off": [{ tool_configuration: { enabled: false } }, undefined, []],
};

describe("MCP servers of a Messages request", () => {
  for (const [name, [more, toolset, offered]] of Object.entries(ROWS)) {
    it(`are offered as the request says, which ${name}`, async (t) => {
      const small = await startSmallServer(t);
      const server = await startServer(t, script(reply.text("Done.")), { settings });
      const tools = toolset
        ? { tools: [{ type: "mcp_toolset", mcp_server_name: "small", ...toolset }] }
        : {};
      const { status, body } = await server.ask("POST", "/v1/messages", {
        ...{ max_tokens: 100, messages: [{ role: "user", content: "Hi" }], ...tools },
        mcp_servers: [{ type: "url", name: "small", url: small.url, ...more }],
      });
      assert.equal(status, 200, JSON.stringify(body));
      const sent = server.upstream.requests[0]?.body as {
        tools?: { function: { name: string } }[];
      };
      assert.deepEqual(
        (sent.tools ?? []).map((tool) => tool.function.name.replace("small__", "")),
        offered,
      );
    });
  }
});
