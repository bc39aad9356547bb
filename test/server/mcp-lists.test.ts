/** How often an MCP server is asked for its tools: once in a conversation. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { startSmallServer } from "../runtime/small-mcp-server.ts";
import { startServer } from "./server-fixture.ts";

const settings = { web: { privateHosts: ["127.0.0.1"] } };

const mcp = (server_url: string, more: object = {}): object => ({
  type: "mcp",
  server_label: "small",
  server_url,
  require_approval: "never",
  ...more,
});
const call = (name: string, text: string) =>
  reply.calls([{ name: `small__${name}`, arguments: { text } }]);
const typesOf = (items: readonly { readonly type: string }[]): string[] =>
  items.map(({ type }) => type);

describe("a list of tools that is in the context", () => {
  const replies = [
    ...[call("look", "one"), reply.text("Done.")],
    ...[call("look", "two"), reply.text("Again.")],
  ];

  it("is not asked for again in a chain, and its tools can be called", async (t) => {
    const small = await startSmallServer(t);
    const server = await startServer(t, script(...replies, reply.text("Fine.")), { settings });
    const tools = [mcp(small.url)];
    const first = await server.create({ input: "Look", tools });
    assert.deepEqual(typesOf(first.output), ["mcp_list_tools", "mcp_call", "message"]);
    const before = small.methods.length;
    const second = await server.create({ input: "Go", previous_response_id: first.id, tools });
    assert.deepEqual(typesOf(second.output), ["mcp_call", "message"]);
    assert.deepEqual(small.calls.at(-1), { name: "look", arguments: { text: "two" } });
    assert.ok(!small.methods.slice(before).includes("tools/list"), String(small.methods));
    const after = small.methods.length;
    const third = await server.create({ input: "Well?", previous_response_id: second.id, tools });
    assert.deepEqual(typesOf(third.output), ["message"]);
    assert.equal(small.methods.length, after, "a server that is not called is not connected to");
    const offered = server.upstream.requests.map(({ body }) => (body as { tools: unknown }).tools);
    for (const one of offered) assert.deepEqual(one, offered[0]);
  });

  it("is not asked for again where the client brings it, or a conversation holds it", async (t) => {
    const small = await startSmallServer(t);
    const server = await startServer(t, script(...replies, ...replies), { settings });
    const tools = [mcp(small.url)];
    const asked = { role: "user", content: "Look" };
    const first = await server.create({ input: [asked], tools, store: false });
    const input = [asked, ...first.output, asked];
    const second = await server.create({ input, tools, store: false });
    assert.deepEqual(typesOf(second.output), ["mcp_call", "message"]);
    const { body } = await server.ask("POST", "/v1/conversations", {});
    const conversation = (body as { id: string }).id;
    await server.create({ input: "Look", tools, conversation });
    await server.create({ input: "Go", tools, conversation });
    const { body: kept } = await server.ask("GET", `/v1/conversations/${conversation}/items`);
    const types = typesOf((kept as { data: { type: string }[] }).data);
    assert.equal(types.filter((type) => type === "mcp_list_tools").length, 1);
    assert.equal(small.methods.filter((method) => method === "tools/list").length, 2);
  });

  it("is asked for again where the request allows a tool that is not in it", async (t) => {
    const small = await startSmallServer(t);
    const server = await startServer(t, script(reply.text("One."), reply.text("Two.")), {
      settings,
    });
    const first = await server.create({
      input: "Look",
      tools: [mcp(small.url, { allowed_tools: ["look"] })],
    });
    const second = await server.create({
      input: "Go",
      previous_response_id: first.id,
      tools: [mcp(small.url, { allowed_tools: ["look", "change"] })],
    });
    assert.deepEqual(typesOf(second.output), ["mcp_list_tools", "message"]);
  });

  it("is asked for again where the server could not be reached before", async (t) => {
    const small = await startSmallServer(t);
    const server = await startServer(t, script(reply.text("One.")), { settings });
    const failed = { type: "mcp_list_tools", server_label: "small", tools: [], error: "Gone." };
    const input = [failed, { role: "user", content: "Look" }];
    const made = await server.create({ input, tools: [mcp(small.url)] });
    assert.deepEqual(typesOf(made.output), ["mcp_list_tools", "message"]);
  });

  it("of this server's own tools is given once", async (t) => {
    const server = await startServer(t, script(reply.text("One."), reply.text("Two.")));
    const tools = [{ type: "mcp", server_label: "offshoot", require_approval: "never" }];
    const first = await server.create({ input: "Hi", tools });
    assert.deepEqual(typesOf(first.output), ["mcp_list_tools", "message"]);
    const second = await server.create({ input: "Go", previous_response_id: first.id, tools });
    assert.deepEqual(typesOf(second.output), ["message"]);
  });
});
