/** MCP servers of a Messages request: which of their tools a model is offered. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { startSmallServer } from "../runtime/small-mcp-server.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

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
        max_tokens: 100,
        messages: [{ role: "user", content: "Hi" }],
        ...tools,
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

type Block = Readonly<Record<string, unknown>>;

const QUESTION = { role: "user", content: "Look." };
const LOOK = reply.calls([{ name: "small__look", arguments: { text: "left" } }]);
const FAIL = reply.calls([{ name: "small__fail", arguments: { text: "left" } }]);

async function answer(server: TestServer, url: string, messages: object[]): Promise<Block[]> {
  const { status, body } = await server.ask("POST", "/v1/messages", {
    max_tokens: 100,
    messages,
    mcp_servers: [{ type: "url", name: "small", url }],
  });
  assert.equal(status, 200, JSON.stringify(body));
  return (body as { content: Block[] }).content;
}

describe("a call of an MCP server, in the Messages API", () => {
  it("is known to the model in the next request", async (t) => {
    const small = await startSmallServer(t);
    const replies = script(LOOK, reply.text("I see."), reply.text("Yes."));
    const server = await startServer(t, replies, { settings });
    const content = await answer(server, small.url, [QUESTION]);
    assert.deepEqual(
      content.map(({ type }) => type),
      ["mcp_tool_use", "mcp_tool_result", "text"],
    );
    const said = { role: "assistant", content };
    await answer(server, small.url, [QUESTION, said, { role: "user", content: "Sure?" }]);
    const { text = "" } = server.upstream.requests[2] ?? {};
    assert.match(text, /"name":"small__look","arguments":"\{\\"text\\":\\"left\\"\}"/);
    assert.match(text, /look did left/);
    assert.equal(small.calls.length, 1);
  });

  it("is known to other models if Anthropic made it", async (t) => {
    const server = await startServer(t, script(reply.text("Yes.")));
    const content = [
      { type: "mcp_tool_use", id: "mcptoolu_1", name: "look", server_name: "s", input: { a: 1 } },
      { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", content: "looked at it" },
      { type: "text", text: "I see." },
    ];
    const messages = [QUESTION, { role: "assistant", content }, { role: "user", content: "Sure?" }];
    const { status } = await server.ask("POST", "/v1/messages", { max_tokens: 100, messages });
    assert.equal(status, 200);
    assert.match(server.upstream.requests[0]?.text ?? "", /looked at it/);
  });

  it("says that it failed, and why", async (t) => {
    const small = await startSmallServer(t, {
      tools: [{ name: "fail", inputSchema: { type: "object" } }],
    });
    const server = await startServer(t, script(FAIL, reply.text("No.")), { settings });
    const [, result] = await answer(server, small.url, [QUESTION]);
    assert.equal(result?.["is_error"], true);
    assert.match(JSON.stringify(result?.["content"]), /fail did left/);
  });
});
