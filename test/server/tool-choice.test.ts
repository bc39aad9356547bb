/** A `tool_choice` that names no offered tool, over HTTP: stored or not, alone or going on. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

const tools = [{ type: "function", name: "get_weather", parameters: { type: "object" } }];
const nope = { type: "function", name: "nope" };

async function paramOf(server: TestServer, body: object, path = "/v1/responses"): Promise<unknown> {
  const { status, body: said } = await server.ask("POST", path, body);
  assert.equal(status, 400, JSON.stringify(said));
  return (said as { error: { param: unknown } }).error.param;
}

describe("a `tool_choice` that names no offered tool", () => {
  it("is refused before the model is asked, stored or not, and as a chat completion", async (t) => {
    const server = await startServer(t, script());
    for (const store of [true, false]) {
      for (const tool_choice of [nope, { type: "web_search" }]) {
        const asked = { input: "Hi", tools, tool_choice, store };
        assert.equal(await paramOf(server, asked), "tool_choice");
      }
      const forced = { input: "Hi", tool_choice: "required", store };
      assert.equal(await paramOf(server, forced), "tool_choice");
    }
    const chat = {
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ type: "function", function: { name: "get_weather" } }],
      tool_choice: { type: "function", function: { name: "nope" } },
    };
    assert.equal(await paramOf(server, chat, "/v1/chat/completions"), "tool_choice");
    assert.equal(server.upstream.requests.length, 0);
  });

  it("may name what an earlier request of the chain or an item brought", async (t) => {
    const replies = ["One.", "Two.", "Three."].map((text) => reply.text(text));
    const server = await startServer(t, script(...replies));
    const brought = { type: "additional_tools", role: "developer", tools };
    const tool_choice = { type: "function", name: "get_weather" };
    const input = [brought, { role: "user", content: "Hi" }];
    const first = await server.create({ input, tool_choice });
    const next = { input: "And?", previous_response_id: first.id };
    await server.create({ ...next, tool_choice });
    await server.create({ ...next, tool_choice: "required" });
    assert.equal(await paramOf(server, { ...next, tool_choice: nope }), "tool_choice");
  });

  it("may name this server's own tools, and is refused for one they do not have", async (t) => {
    const server = await startServer(t, script(reply.text("One.")));
    const own = { type: "mcp", server_label: "offshoot", require_approval: "never" };
    const choose = (name: string): object => ({ type: "mcp", server_label: "offshoot", name });
    const asked = { input: "Hi", tools: [own] };
    await server.create({ ...asked, tool_choice: choose("bash_read") });
    const refused = { ...asked, tool_choice: choose("nope") };
    assert.equal(await paramOf(server, refused), "tool_choice");
    assert.equal(server.upstream.requests.length, 1);
  });

  it("is listed as left out where its tool was", async (t) => {
    const server = await startServer(t, script(reply.text("One.")));
    const asked = { input: "Hi", tools: [...tools, { type: "acme_thing" }] };
    const made = await server.create({ ...asked, tool_choice: { type: "acme_thing" } });
    const left = made.offshoot?.ignored.join(", ") ?? "";
    assert.match(left, /tools\[1\] \(acme_thing\)/);
    assert.match(left, /tool_choice/);
  });
});
