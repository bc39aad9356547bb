/** Calls beyond `max_tool_calls`, over HTTP. */

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
const typesOf = (items: readonly { readonly type: string }[]): string[] =>
  items.map(({ type }) => type);

describe("calls beyond `max_tool_calls`", () => {
  const calls = reply.calls([
    { name: "small__look", arguments: { text: "one" } },
    { name: "small__change", arguments: { text: "two" } },
    { name: "own", arguments: {} },
  ]);
  const own = { type: "function", name: "own", parameters: { type: "object", properties: {} } };

  it("are ignored: not made, not shown, and not offered from then on", async (t) => {
    const small = await startSmallServer(t);
    const twice = reply.calls([
      { name: "small__look", arguments: { text: "one" } },
      { name: "small__change", arguments: { text: "two" } },
    ]);
    const server = await startServer(t, script(twice, reply.text("Done.")), { settings });
    const events = await server.stream({
      input: "Look",
      tools: [mcp(small.url), own],
      max_tool_calls: 1,
    });
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    assert.deepEqual(typesOf(last.response.output), ["mcp_list_tools", "mcp_call", "message"]);
    assert.doesNotMatch(JSON.stringify(events), /small__change|"two"|failed|used up/);
    assert.deepEqual(
      small.calls.map(({ name }) => name),
      ["look"],
    );
    const names = server.upstream.requests.map(({ body }) =>
      (body as { tools?: { function: { name: string } }[] }).tools?.map((one) => one.function.name),
    );
    assert.deepEqual(names, [["own", "small__look", "small__change"], ["own"]]);
  });

  it("are counted without those of the client", async (t) => {
    const small = await startSmallServer(t);
    const server = await startServer(t, script(calls), { settings });
    const asked = { input: "Look", tools: [mcp(small.url), own], tool_choice: "required" };
    const made = await server.create({ ...asked, max_tool_calls: 0 });
    assert.deepEqual(typesOf(made.output), ["mcp_list_tools", "function_call"]);
    assert.equal(small.calls.length, 0);
  });

  it("leave no choice that forces one", async (t) => {
    const small = await startSmallServer(t);
    const server = await startServer(t, script(reply.text("Fine.")), { settings });
    const tool_choice = { type: "mcp", server_label: "small", name: "look" };
    const asked = { input: "Look", tools: [mcp(small.url)], tool_choice, max_tool_calls: 0 };
    assert.equal((await server.create(asked)).output_text, "Fine.");
    const [body] = server.upstream.requests.map((request) => request.body as object);
    assert.ok(body && !("tools" in body) && !("tool_choice" in body), JSON.stringify(body));
  });
});
