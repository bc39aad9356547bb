/** Conversations that are over the threshold, or the model's window, before the model is asked. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond, script } from "../../src/testing/index.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

function lastAsked({ upstream }: TestServer): ChatBody["messages"] {
  const { body } = upstream.requests.at(-1) ?? assert.fail("nothing was asked");
  return (body as unknown as ChatBody).messages;
}

function told(server: TestServer): string[] {
  return lastAsked(server).map(({ content }) => String(content));
}

const typesOf = (items: readonly { readonly type: string }[]): string[] =>
  items.map(({ type }) => type);
const long = (word: string): string => `${word} `.repeat(2000);
/** The usage from an upstream that does not count. */
const usage = { input: 0, output: 0 };
const context_management = [{ type: "compaction", compact_threshold: 1000 }];

describe("a conversation over the threshold", () => {
  it("is compacted before the model is asked, in the same stream", async (t) => {
    const replies = [reply.text("Noted."), reply.text("MEMORY"), reply.text("Blue.")];
    const server = await startServer(t, script(...replies, reply.text("Sure.")));
    const first = await server.create({ input: `My colour is blue. ${long("one")}` });
    const asked = { input: "Which colour?", previous_response_id: first.id, context_management };
    const events = await server.stream(asked);
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    assert.deepEqual(typesOf(last.response.output), ["compaction", "message"]);
    assert.equal(last.response.output_text, "Blue.");
    const sent = told(server);
    assert.match(sent.join("\n"), /^Summary of the conversation[\s\S]*MEMORY\nWhich colour\?$/);
    assert.ok(sent.join("").length < 1500);
    // And the next one continues from there.
    await server.create({ input: "Sure?", previous_response_id: last.response.id });
    assert.deepEqual(told(server).slice(1), ["Which colour?", "Blue.", "Sure?"]);
  });

  it("is compacted where the client keeps it, and the upstream counts no tokens", async (t) => {
    const turns = Array.from({ length: 6 }, (_, at) => [
      { role: "user", content: `${at} ${"word ".repeat(300)}` },
      { role: "assistant", content: `re ${at}` },
    ]).flat();
    const replies = [reply.text("MEMORY", { usage }), reply.text("Five.", { usage })];
    const server = await startServer(t, script(...replies));
    const input = [...turns, { role: "user", content: "How many?" }];
    const made = await server.create({ input, context_management, store: false });
    assert.deepEqual(typesOf(made.output), ["compaction", "message"]);
    assert.equal(told(server).at(-1), "How many?");
    // The items that it replaces are not used twice if the client sends all of them again.
    const next = await startServer(t, script(reply.text("Ok.")));
    await next.create({
      input: [...input, ...made.output, { role: "user", content: "Sure?" }],
      store: false,
    });
    assert.deepEqual(told(next).slice(-3), ["How many?", "Five.", "Sure?"]);
    assert.equal(told(next).filter((text) => text === "How many?").length, 1);
  });

  it("is not refused for a window that it will fit once it is compacted", async (t) => {
    const overrides = [{ vendor: "custom", name: "scripted", contextTokens: 2000 }];
    const input = [
      { role: "user", content: long("one") + long("two") },
      { role: "assistant", content: "Noted." },
      { role: "user", content: "Which?" },
    ];
    const replies = [reply.text("MEMORY"), reply.text("One.")];
    const server = await startServer(t, script(...replies), { overrides });
    const made = await server.create({ input, context_management });
    assert.deepEqual(typesOf(made.output), ["compaction", "message"]);
    const question = [{ role: "user", content: long("one") + long("two") }];
    const body = { input: question, context_management };
    assert.equal((await server.ask("POST", "/v1/responses", body)).status, 400);
  });

  it("is compacted at its own address although it does not fit the window", async (t) => {
    const overrides = [{ vendor: "custom", name: "scripted", contextTokens: 2000 }];
    const server = await startServer(t, script(reply.text("MEMORY")), { overrides });
    const input = [{ role: "user", content: long("one") + long("two") }];
    const body = { model: "custom/scripted", input };
    const answered = await server.ask("POST", "/v1/responses/compact", body);
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
  });

  it("keeps calls and results that the model needs to continue", async (t) => {
    const weather = { type: "function", name: "weather", parameters: { type: "object" } };
    const call = reply.calls([{ name: "weather", arguments: "{}", call_id: "call_1" }]);
    const replies = [reply.text("Noted."), call, reply.text("MEMORY"), reply.text("Wet.")];
    const server = await startServer(t, script(...replies));
    const first = await server.create({ input: long("one") });
    const second = await server.create({
      input: "How is it?",
      previous_response_id: first.id,
      tools: [weather],
    });
    const output = { type: "function_call_output", call_id: "call_1", output: "It rains." };
    const third = await server.create({
      input: [output],
      previous_response_id: second.id,
      tools: [weather],
      context_management,
    });
    assert.deepEqual(typesOf(third.output), ["compaction", "message"]);
    assert.deepEqual(
      lastAsked(server).map(({ role }) => role),
      ["user", "user", "assistant", "tool"],
    );
  });

  it("is left alone if there is nothing to compact", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.", { usage: { input: 10 } })),
    );
    const made = await server.create({ input: long("one"), context_management });
    assert.deepEqual(typesOf(made.output), ["message"]);
    assert.equal(server.upstream.requests.length, 1);
  });

  it("is sent unchanged if there can be no summary", async (t) => {
    const bad = reply.status(400, { error: { message: "No.", type: "x" } });
    const counted = { usage: { input: 10 } };
    const server = await startServer(
      t,
      script(reply.text("Noted."), bad, reply.text("Blue.", counted)),
    );
    const first = await server.create({ input: long("one") });
    const asked = { input: "Which?", previous_response_id: first.id, context_management };
    const made = await server.create(asked);
    assert.deepEqual(typesOf(made.output), ["message"]);
    assert.equal(told(server).length, 3);
  });

  it("is compacted between two turns for what a tool has given", async (t) => {
    const read = reply.calls([{ name: "offshoot__bash_read", arguments: { filepath: "big.txt" } }]);
    const replies = [read, reply.text("MEMORY"), reply.text("Done.")];
    const files = { "big.txt": "line of text\n".repeat(800) };
    const server = await startServer(t, script(...replies), { files });
    const tools = [{ type: "mcp", server_label: "offshoot", require_approval: "never" }];
    const larger = [{ type: "compaction", compact_threshold: 4000 }];
    const made = await server.create({ input: "Read it.", tools, context_management: larger });
    assert.deepEqual(typesOf(made.output), [
      ...["mcp_list_tools", "mcp_call", "compaction", "message"],
    ]);
  });
});

describe("a conversation that the model refuses as too long", () => {
  const code = "context_length_exceeded";
  const refusal = reply.status(400, {
    error: { message: "Too many tokens.", type: "invalid_request_error", code, param: "messages" },
  });
  /** Refuses what is longer than so many characters. */
  const upTo = (chars: number) =>
    respond(({ items }) =>
      JSON.stringify(items).length > chars ? refusal : reply.text(`${items.length}`),
    );

  it("is shortened until it fits with `truncation: auto`, whatever the window is", async (t) => {
    const server = await startServer(t, upTo(12_000));
    const input = Array.from({ length: 41 }, (_, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: `${at} ${"word ".repeat(200)}`,
    }));
    const made = await server.create({ input, truncation: "auto", store: false });
    assert.equal(made.status, "completed");
    const left = told(server);
    assert.ok(left.length > 3 && left.length < 12, `${left.length} are left`);
    assert.match(left[0] ?? "", /^(\d*[02468]) /);
    assert.match(left.at(-1) ?? "", /^40 /);
  });

  it("is compacted in pieces that the model takes, whatever its window is", async (t) => {
    const server = await startServer(t, upTo(6000));
    const input = [
      ...["one", "two"].flatMap((word) => [
        { role: "user", content: long(word) },
        { role: "assistant", content: `re ${word}` },
      ]),
      { role: "user", content: "Which?" },
    ];
    const made = await server.create({ input, context_management, store: false });
    assert.deepEqual(typesOf(made.output), ["compaction", "message"]);
    assert.equal(told(server).at(-1), "Which?");
  });

  it("is refused with `disabled`, naming no field that the client did not send", async (t) => {
    const server = await startServer(t, upTo(100));
    for (const more of [{}, { store: false }, { store: false, stream: true }]) {
      const body = { input: long("one"), ...more };
      const answered = await server.ask("POST", "/v1/responses", body);
      assert.equal(answered.status, 400);
      const { error } = answered.body as { error: { code: string; param: unknown } };
      assert.deepEqual([error.code, error.param], [code, "input"]);
    }
  });

  it("is refused where nothing more can be left out", async (t) => {
    const server = await startServer(t, upTo(100));
    const body = { input: long("one"), truncation: "auto" };
    assert.equal((await server.ask("POST", "/v1/responses", body)).status, 400);
    assert.equal(server.upstream.requests.length, 1);
  });

  it("keeps the name of a field that the client did send", async (t) => {
    const error = { message: "No.", type: "invalid_request_error", param: "tools[0].name" };
    const server = await startServer(t, script(reply.status(400, { error })));
    const answered = await server.ask("POST", "/v1/responses", { input: "Hi" });
    assert.equal((answered.body as { error: { param: unknown } }).error.param, "tools[0].name");
  });
});
