import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../src/protocol/items.ts";
import { reply, respond, script } from "../../src/testing/index.ts";
import { newDatabasePath } from "../store/database-path.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: unknown;
}

function bodyOf(server: TestServer, at = -1): ChatBody {
  return server.upstream.requests.at(at)?.body as unknown as ChatBody;
}

const usage = { input: 5000, output: 10 };
const context_management = [{ type: "compaction", compact_threshold: 1000 }];
const weather = { type: "function", name: "weather", parameters: { type: "object" } };

describe("compaction of a chain", () => {
  for (const [name, toSetup] of Object.entries({
    memory: (): ServerSetup => ({}),
    "a file": (): ServerSetup => ({ storePath: newDatabasePath() }),
  })) {
    it(`follows the message, and the next response continues from it (${name})`, async (t) => {
      const replies = [reply.text("Noted.", { usage }), reply.text("MEMORY"), reply.text("Blue.")];
      const server = await startServer(t, script(...replies), toSetup());
      const events = await server.stream({ input: "My colour is blue.", context_management });
      assert.deepEqual(
        events
          .slice(-6)
          .map((event) => ("item" in event ? `${event.type} ${event.item.type}` : event.type)),
        [
          "response.output_text.done",
          "response.content_part.done",
          "response.output_item.done message",
          "response.output_item.added compaction",
          "response.output_item.done compaction",
          "response.completed",
        ],
      );
      const last = events.at(-1);
      assert.ok(last && "response" in last);
      const first = last.response;
      const used = first.usage?.total_tokens ?? 0;
      assert.ok(used > 5010, `${used} holds what the summary cost`);
      await server.create({ input: "Which colour?", previous_response_id: first.id });
      const told = bodyOf(server).messages.map(({ content }) => String(content));
      assert.equal(told[0], "My colour is blue.");
      assert.match(told[1] ?? "", /^Summary of the conversation[\s\S]*MEMORY$/);
      assert.deepEqual(told.slice(2), ["Noted.", "Which colour?"]);
    });
  }

  it("asks for the summary in plain text, without tools", async (t) => {
    const replies = [reply.text("Noted.", { usage }), reply.text("MEMORY")];
    const server = await startServer(t, script(...replies));
    await server.create({ input: "Hi", context_management, tools: [weather] });
    const asked = bodyOf(server);
    assert.equal(asked.tools, undefined);
    assert.equal(asked.messages.length, 2);
    assert.match(String(asked.messages[1]?.content), /\[user\]\nHi\n\n\[assistant\]\nNoted\./);
  });

  it("keeps a call that waits for its client", async (t) => {
    const server = await startServer(
      t,
      script(
        reply.calls([{ name: "weather", arguments: {}, call_id: "call_7" }], { usage }),
        reply.text("MEMORY"),
        reply.text("Rain."),
      ),
    );
    const tools = [weather];
    const first = await server.create({ input: "Weather?", tools, context_management });
    assert.deepEqual(
      first.output.map(({ type }) => type),
      ["function_call", "compaction"],
    );
    const output = { type: "function_call_output", call_id: "call_7", output: "rain" };
    await server.create({ input: [output], previous_response_id: first.id, tools });
    const roles = bodyOf(server).messages.map(({ role }) => role);
    assert.deepEqual(roles, ["user", "user", "assistant", "tool"]);
  });

  it("leaves the answer alone if there can be no summary", async (t) => {
    const bad = reply.status(400, { error: { message: "No.", type: "x" } });
    const server = await startServer(t, script(reply.text("Noted.", { usage }), bad));
    const made = await server.create({ input: "Hi", context_management });
    assert.equal(made.status, "completed");
    assert.deepEqual(
      made.output.map(({ type }) => type),
      ["message"],
    );
  });

  it("does nothing below the threshold", async (t) => {
    const server = await startServer(t, script(reply.text("Noted.")));
    const made = await server.create({ input: "Hi", context_management });
    assert.equal(made.output.length, 1);
  });
});

describe("a compaction trigger", () => {
  it("is answered with one compaction and nothing else, stored or not", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("MEMORY")),
    );
    for (const store of [true, false]) {
      const input = [{ role: "user", content: "Hi" }, { type: "compaction_trigger" }];
      const tools = [weather, { type: "mcp", server_label: "offshoot", require_approval: "never" }];
      const events = await server.stream({ input, store, tools });
      assert.deepEqual(
        events.map((event) => ("item" in event ? `${event.type} ${event.item.type}` : event.type)),
        [
          "response.created",
          "response.in_progress",
          "response.output_item.added compaction",
          "response.output_item.done compaction",
          "response.completed",
        ],
      );
      const last = events.at(-1);
      assert.ok(last && "response" in last && last.response.usage);
      assert.ok(last.response.usage.output_tokens > 0);
    }
  });

  it("is taken back by a client that keeps the user's messages itself, as codex does", async (t) => {
    const server = await startServer(t, script(reply.text("MEMORY"), reply.text("Go on.")));
    const said = { role: "user", content: "Fix the bug." };
    const input = [said, { role: "assistant", content: "I look." }, { type: "compaction_trigger" }];
    const made = await server.create({ input, store: false });
    const [compaction] = made.output;
    const next = [
      { role: "developer", content: "New rules." },
      said,
      compaction,
      { role: "user", content: "Go on." },
    ];
    await server.create({ input: next, store: false });
    const told = bodyOf(server).messages.map(({ content }) => String(content).split("\n").at(-1));
    assert.deepEqual(told, ["New rules.", "Fix the bug.", "MEMORY", "I look.", "Go on."]);
  });

  it("must stand last, and must have something before it", async (t) => {
    const server = await startServer(t, script());
    const trigger = { type: "compaction_trigger" };
    const wrong = { input: [trigger, { role: "user", content: "Hi" }] };
    const refused = await server.ask("POST", "/v1/responses", wrong);
    assert.deepEqual([refused.status, paramOf(refused.body)], [400, "input[0]"]);
    const empty = await server.ask("POST", "/v1/responses", { input: [trigger] });
    assert.equal(empty.status, 400);
    assert.equal(server.upstream.requests.length, 0);
  });

  it("says why it failed", async (t) => {
    const bad = reply.status(400, { error: { message: "No.", type: "x" } });
    const server = await startServer(t, script(bad));
    const input = [{ role: "user", content: "Hi" }, { type: "compaction_trigger" }];
    const failed = await server.ask("POST", "/v1/responses", { input });
    assert.equal(failed.status, 400);
  });
});

describe("POST /v1/responses/compact", () => {
  it("needs the name of a model, as the real address does", async (t) => {
    const server = await startServer(t, script());
    for (const model of [undefined, null, ""]) {
      const asked = { model, input: "Hi" };
      const { status, body } = await server.ask("POST", "/v1/responses/compact", asked);
      assert.deepEqual([status, paramOf(body)], [400, "model"]);
    }
    assert.equal(server.upstream.requests.length, 0);
  });

  it("gives the user's messages and the compaction, and keeps nothing", async (t) => {
    const server = await startServer(t, script(reply.text("MEMORY"), reply.text("Blue.")));
    const input = [
      { role: "user", content: "My colour is blue." },
      { role: "assistant", content: "Noted." },
    ];
    const { status, body } = await server.ask("POST", "/v1/responses/compact", {
      model: "m",
      input,
    });
    assert.equal(status, 200);
    const made = body as { id: string; object: string; output: Item[]; usage: object };
    assert.equal(made.object, "response.compaction");
    assert.deepEqual(
      made.output.map(({ type }) => type),
      ["message", "compaction"],
    );
    assert.equal((await server.ask("GET", `/v1/responses/${made.id}`)).status, 404);
    const next = [...made.output, { role: "user", content: "Which?" }];
    await server.create({ input: next });
    const told = bodyOf(server).messages.map(({ content }) => String(content).split("\n").at(-1));
    assert.deepEqual(told, ["My colour is blue.", "MEMORY", "Noted.", "Which?"]);
  });

  it("compacts the chain of a response", async (t) => {
    const server = await startServer(t, script(reply.text("Noted."), reply.text("MEMORY")));
    const first = await server.create({ input: "My colour is blue." });
    const asked = { model: "m", previous_response_id: first.id };
    const { status } = await server.ask("POST", "/v1/responses/compact", asked);
    assert.equal(status, 200);
    assert.match(String(bodyOf(server).messages[1]?.content), /My colour is blue\.[\s\S]*Noted\./);
  });

  it("cannot be read, made or used by another tenant", async (t) => {
    const server = await startServer(t, script(reply.text("MEMORY")), { caller: { tenant: "a" } });
    const input = [{ role: "user", content: "Secret." }];
    const { body } = await server.ask("POST", "/v1/responses/compact", { model: "m", input });
    const compaction = (body as { output: Item[] }).output.at(-1);
    const other = await startServer(t, script(reply.text("Hm.")), { caller: { tenant: "b" } });
    await other.create({ input: [compaction, { role: "user", content: "What was said?" }] });
    const told = bodyOf(other).messages.map(({ content }) => content);
    assert.deepEqual(told, ["What was said?"]);
  });
});

describe("compaction and a restart", () => {
  it("continues from a compaction that another process made", async (t) => {
    const storePath = newDatabasePath();
    const replies = [reply.text("Noted.", { usage }), reply.text("MEMORY")];
    const first = await startServer(t, script(...replies), { storePath });
    const made = await first.create({ input: "My colour is blue.", context_management });
    await first.runtime.close();
    const second = await startServer(t, script(reply.text("Blue.")), { storePath });
    await second.create({ input: "Which?", previous_response_id: made.id });
    const told = bodyOf(second).messages.map(({ content }) => String(content).split("\n").at(-1));
    assert.deepEqual(told, ["My colour is blue.", "MEMORY", "Noted.", "Which?"]);
  });
});

function paramOf(body: unknown): unknown {
  return (body as { error: { param: unknown } }).error.param;
}
