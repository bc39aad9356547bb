/** Searches for tools over HTTP: what a chain of responses and a restart keep of them. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { reply, script, startChatUpstream } from "../../src/testing/index.ts";
import { checkEvents, checkPublished } from "../conformance/check.ts";
import { startSmallServer } from "../runtime/small-mcp-server.ts";
import { ANYBODY, startServer, type TestServer } from "./server-fixture.ts";

const SEARCH = { type: "tool_search" };
const weather = {
  type: "function",
  name: "weather",
  description: "The sky over a city.",
  strict: false,
  parameters: { type: "object", properties: {} },
  defer_loading: true,
};
const searching = (given: JsonObject) => reply.calls([{ name: "tool_search", arguments: given }]);

function offered({ upstream }: Pick<TestServer, "upstream">): string[][] {
  return upstream.requests.map(({ body }) => {
    const { tools = [] } = body as { tools?: { function: { name: string } }[] };
    return tools.map((tool) => tool.function.name);
  });
}

describe("a search for tools, over HTTP", () => {
  it("is valid by both descriptions, and holds in the next response of the chain", async (t) => {
    const server = await startServer(
      t,
      script(
        searching({ query: "weather" }),
        reply.calls([{ name: "weather", arguments: {} }]),
        reply.text("Blue."),
        reply.text("Still blue."),
      ),
    );
    const tools = [SEARCH, weather];
    const events = await server.stream({ input: "Oslo?", tools });
    checkEvents(events);
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    const { id, output } = last.response;
    const call = output.at(-1);
    assert.ok(call?.type === "function_call");
    const result = { type: "function_call_output", call_id: call.call_id, output: "blue" };
    const next = { previous_response_id: id, input: [result] };
    await server.create({ ...next, tools });
    await server.create(next);
    assert.deepEqual(offered(server), [
      ["tool_search"],
      ...Array.from({ length: 2 }, () => ["tool_search", "weather"]),
      ["weather"],
    ]);
    // The same in a conversation that the client stores itself.
    const kept = await server.ask("GET", `/v1/responses/${id}`);
    const shown = (kept.body as { output: object[] }).output;
    const alone = await startServer(t, script(reply.text("Blue.")));
    const input = [{ role: "user", content: "Oslo?" }, ...shown, result];
    await alone.create({ input, tools, store: false });
    assert.deepEqual(offered(alone), [["tool_search", "weather"]]);
  });

  it("finds tools of an MCP server, whose secrets stay with the request", async (t) => {
    const small = await startSmallServer(t);
    const mcp = {
      type: "mcp",
      server_label: "small",
      server_url: small.url,
      require_approval: "never",
      defer_loading: true,
      authorization: "hush",
    };
    const replies = [
      searching({ paths: ["small"], query: "look" }),
      reply.calls([{ name: "small__look", arguments: { text: "it" } }]),
      reply.text("Done."),
      reply.text("Again."),
    ];
    const settings = { web: { privateHosts: ["127.0.0.1"] } };
    const server = await startServer(t, script(...replies), { settings });
    const made = await server.create({ input: "Look", tools: [SEARCH, mcp] });
    assert.doesNotMatch(JSON.stringify(made), /hush/);
    assert.deepEqual(small.calls, [{ name: "look", arguments: { text: "it" } }]);
    // Its tools are not had without it, and the answer does not fail for that.
    await server.create({ previous_response_id: made.id, input: "And now?" });
    assert.deepEqual(offered(server), [
      ["tool_search"],
      ["tool_search", "small__look"],
      ["tool_search", "small__look"],
      [],
    ]);
    const items = await server.ask("GET", `/v1/responses/${made.id}/input_items`);
    checkPublished("ResponseItemList", items.body);
  });

  it("is known again by a server that continues after another stopped", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "offshoot-search-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const engine = script(
      searching({ query: "weather" }),
      reply.silence("It"),
      reply.text("It is there."),
    );
    const upstream = await startChatUpstream({ engine });
    t.after(() => upstream.close());
    const { url } = upstream;
    const usual = { model: "custom/x", provider: "openai-chat", url, api_key_name: null };
    const open = async () => {
      const runtime = await createRuntime({ storePath: join(folder, "runs.db"), env: {} });
      const responses = await runtime.openResponses({
        models: { named: [], usual },
        store: true,
        ttlMs: null,
        root: folder,
        maxBackground: 4,
        sealKey: new Uint8Array(32),
      });
      return { runtime, responses };
    };
    const first = await open();
    const { api } = first.responses;
    const body = { input: "Oslo?", background: true, tools: [SEARCH, weather] };
    const { id } = await api.create(body, ANYBODY);
    const isWriting = (event: EmittedEvent): boolean => event.type === "response.output_text.delta";
    for await (const batch of await api.follow(id, ANYBODY, { after: -1 })) {
      if (batch.some(isWriting)) break;
    }
    await first.runtime.close();

    const second = await open();
    t.after(() => second.runtime.close());
    await second.responses.start();
    await second.runtime.engine.result(toRunId(id));
    const { status, output_text } = await second.responses.api.retrieve(id, ANYBODY);
    assert.deepEqual([status, output_text], ["completed", "It is there."]);
    assert.deepEqual(offered({ upstream }), [
      ["tool_search"],
      ...Array.from({ length: 2 }, () => ["tool_search", "weather"]),
    ]);
  });
});
