/**
 * Complaints of users of other servers: tools. The numbers are those of docs/server-complaints.md.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { type Reply, reply, script, startChatUpstream } from "../../src/testing/index.ts";
import { nativeReply } from "../conformance/native-reply.ts";
import { PROVIDER_NAMES, SCRIPTED_NAMES } from "../conformance/provider-servers.ts";
import { newDatabasePath } from "../store/database-path.ts";
import { createServers, lastOf, modelAt, typesOf } from "./server-complaints-fixture.ts";
import { startServer } from "./server-fixture.ts";

const LOOK = {
  type: "function",
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: { at: { type: "string" } } },
};
const PATCH = {
  type: "custom",
  name: "apply_patch",
  description: "Changes files.",
  format: { type: "grammar", syntax: "lark", definition: 'start: "*** Begin Patch" /.+/s' },
};
/** Quotes, line ends and what only looks like JSON. */
const PATCH_TEXT = '*** Begin Patch\n+say("hi", \'there\')\t{"input": "no"}\n*** End Patch\n';
/** Wires that know only functions. */
const BRIDGED = SCRIPTED_NAMES.filter((name) => name !== "responses");

const namesOf = ({ tools }: ModelRequest): string[] =>
  tools.flatMap((tool) => (tool.type === "function" ? tool.name : []));

const callLast = (request: ModelRequest, word: string, given: object | string): Reply => {
  const name = namesOf(request).find((one) => one.includes(word)) ?? assert.fail(`no ${word}`);
  const text = typeof given === "string" ? given : JSON.stringify(given);
  return reply.calls([{ name, arguments: text }]);
};

describe("1: tool kinds beyond functions", () => {
  const ask = createServers();
  const tools = [
    LOOK,
    { type: "acme_thing", settings: { deep: [1] } },
    { type: "web_search", external_web_access: false },
    { type: "namespace", name: "mail", description: "Mail.", tools: [{ ...LOOK, name: "send" }] },
    { type: "tool_search", execution: "client", description: "Finds.", parameters: null },
    { type: "computer_use_preview", display_width: 1, display_height: 1, environment: "linux" },
    { type: "image_generation" },
    { type: "local_shell" },
    PATCH,
  ];

  for (const name of SCRIPTED_NAMES) {
    it(`do not fail the request, and what is left out is named (${name})`, async () => {
      const { server, asked } = await ask(name, reply.text("Ok."));
      const made = await server.create({ input: "Hi", tools });
      assert.deepEqual([made.status, made.output_text], ["completed", "Ok."]);
      assert.match(made.metadata?.["offshoot_ignored"] ?? "", /tools\[1\] \(acme_thing\)/);
      assert.ok(namesOf(asked[0] ?? assert.fail()).includes("look"));
    });

    it(`do not fail it as items of a conversation (${name})`, async () => {
      const { server } = await ask(name, reply.text("Ok."));
      const thing = { type: "acme_thing", id: "at_1", status: "completed", what: "something" };
      const input = [{ role: "user", content: "Hi" }, thing, { role: "user", content: "Again" }];
      const made = await server.create({ input });
      assert.equal(made.output_text, "Ok.");
      assert.match(made.metadata?.["offshoot_ignored"] ?? "", /input\[1\] \(acme_thing\)/);
      const listed = await server.ask("GET", `/v1/responses/${made.id}/input_items`);
      assert.match(JSON.stringify(listed.body), /"what":"something"/);
    });
  }

  it("stay there for the responses that continue", async () => {
    const { server, asked } = await ask("chat", () => reply.text("Ok."));
    const brought = { type: "additional_tools", role: "developer", tools: [LOOK] };
    const first = await server.create({ input: [brought, { role: "user", content: "Hi" }] });
    const next = { input: "And?", previous_response_id: first.id };
    const second = await server.create({ ...next, tools: [{ ...LOOK, description: "Newer." }] });
    assert.deepEqual(
      asked[1]?.tools.map((tool) => "description" in tool && tool.description),
      ["Newer."],
    );
    await server.create({ input: "And?", previous_response_id: second.id });
    assert.deepEqual(namesOf(asked[2] ?? assert.fail()), ["look"]);
  });

  it("bring no secret into the record or the answer", async (t) => {
    const storePath = newDatabasePath();
    const server = await startServer(t, script(reply.text("Ok.")), { storePath });
    const headers = { "x-key": "SECRET-1" };
    const mcp = { type: "mcp", server_label: "offshoot", authorization: "SECRET-2", headers };
    const brought = { type: "additional_tools", role: "developer", tools: [mcp] };
    const made = await server.create({ input: [brought, { role: "user", content: "Hi" }] });
    const listed = await server.ask("GET", `/v1/responses/${made.id}/input_items`);
    assert.match(JSON.stringify(listed.body), /additional_tools/);
    assert.doesNotMatch(JSON.stringify([made, listed.body]), /SECRET|sealed/);
    const file = Buffer.concat([storePath, `${storePath}-wal`].map((path) => readFileSync(path)));
    assert.ok(file.includes("additional_tools") && !file.includes("SECRET"));
  });

  it("come as an `additional_tools` item, and inside a namespace, and are called", async () => {
    for (const tool of [LOOK, { ...LOOK, type: "namespace", name: "eyes", tools: [LOOK] }]) {
      const { server } = await ask("chat", (request) => callLast(request, "look", { at: "it" }));
      const brought = { type: "additional_tools", role: "developer", tools: [tool] };
      const made = await server.create({ input: [brought, { role: "user", content: "Look." }] });
      const [call] = made.output;
      assert.ok(call?.type === "function_call", JSON.stringify(made.metadata));
      assert.equal(call.name, "look");
    }
  });
});

describe("2: freeform tools over a model that knows functions alone", () => {
  const ask = createServers();
  for (const name of BRIDGED) {
    it(`are called with only their text, and continue with the result (${name})`, async () => {
      const { server, asked } = await ask(name, (request) =>
        request.items.some(({ type }) => type === "function_call_output")
          ? reply.text("Patched.")
          : callLast(request, "apply_patch", { input: PATCH_TEXT }),
      );
      const events = await server.stream({ input: "Patch it.", tools: [PATCH] });
      const written = events.flatMap((event) =>
        event.type === "response.custom_tool_call_input.delta" ? event.delta : [],
      );
      assert.equal(written.join(""), PATCH_TEXT);
      const first = lastOf(events);
      const call = first.output.find(({ type }) => type === "custom_tool_call");
      assert.ok(call?.type === "custom_tool_call");
      assert.deepEqual([call.name, call.input], ["apply_patch", PATCH_TEXT]);

      const result = { type: "custom_tool_call_output", call_id: call.call_id, output: "Done." };
      const next = { input: [result], previous_response_id: first.id, tools: [PATCH] };
      assert.equal((await server.create(next)).output_text, "Patched.");
      const told = asked.at(-1)?.items.find(({ type }) => type === "function_call");
      assert.ok(told?.type === "function_call");
      assert.deepEqual(JSON.parse(told.arguments), { input: PATCH_TEXT });
    });
  }

  it("freeform tools keep their grammar in the description", async () => {
    const { server, asked } = await ask("messages", reply.text("Ok."));
    await server.create({ input: "Hi", tools: [PATCH] });
    assert.match(JSON.stringify(asked[0]?.tools), /\*\*\* Begin Patch/);
  });

  it("are called whole by a model that forgets the JSON around the text", async () => {
    const { server } = await ask("chat", (request) => callLast(request, "patch", PATCH_TEXT));
    const [call] = (await server.create({ input: "Patch.", tools: [PATCH] })).output;
    assert.ok(call?.type === "custom_tool_call");
    assert.equal(call.input, PATCH_TEXT);
  });

  for (const bring of ["tools", "additional_tools"]) {
    it(`are found inside a namespace (${bring})`, async () => {
      const { server } = await ask("chat", (request) =>
        callLast(request, "apply_patch", { input: PATCH_TEXT }),
      );
      const space = { type: "namespace", name: "code", description: "Code.", tools: [PATCH] };
      const item = { type: "additional_tools", role: "developer", tools: [space] };
      const words = { role: "user", content: "Patch." };
      const body =
        bring === "tools" ? { input: [words], tools: [space] } : { input: [item, words] };
      const [call] = (await server.create(body)).output;
      assert.ok(call?.type === "custom_tool_call");
      assert.deepEqual(
        [call.name, call.namespace, call.input],
        ["apply_patch", "code", PATCH_TEXT],
      );
    });
  }

  it("are handed on as they are to a model that knows them", async () => {
    const item = {
      type: "custom_tool_call",
      id: "ctc_1",
      call_id: "call_1",
      name: "apply_patch",
      input: PATCH_TEXT,
      status: "completed",
    };
    const { server, sent } = await ask("responses", nativeReply([item]));
    const [call] = (await server.create({ input: "Patch.", tools: [PATCH] })).output;
    assert.ok(call?.type === "custom_tool_call");
    assert.equal(call.input, PATCH_TEXT);
    assert.deepEqual(JSON.parse(sent()).tools[0].format, PATCH.format);
  });
});

describe("13: a call never leaks as text", () => {
  const ask = createServers();
  for (const name of SCRIPTED_NAMES) {
    for (const text of [undefined, "I look."]) {
      const when = text === undefined ? "alone" : "after text";
      it(`streams it as a call alone (${name}, ${when})`, async () => {
        const given = { at: '<tool_call> {"name": "look"}' };
        const said = text === undefined ? {} : { text };
        const answer = reply.calls([{ name: "look", arguments: given }], {
          ...said,
          pieceLength: 3,
        });
        const { server } = await ask(name, answer);
        const events = await server.stream({ input: "Look.", tools: [LOOK] });
        const words = events.flatMap((event) =>
          event.type === "response.output_text.delta" ? event.delta : [],
        );
        assert.equal(words.join(""), text ?? "");
        const written = events.flatMap((event) =>
          event.type === "response.function_call_arguments.delta" ? event.delta : [],
        );
        assert.deepEqual(JSON.parse(written.join("")), given);
        const types = typesOf(lastOf(events).output).filter((type) => type !== "reasoning");
        assert.deepEqual(types, [...(text ? ["message"] : []), "function_call"]);
      });
    }
  }
});

describe("15: calls side by side", () => {
  const ask = createServers();
  const places = ["a", "b", "c"];
  for (const name of SCRIPTED_NAMES) {
    it(`have places, ids and arguments of their own (${name})`, async () => {
      const calls = places.map((at) => ({ name: "look", arguments: { at } }));
      const { server } = await ask(name, reply.calls(calls));
      const events = await server.stream({ input: "Look.", tools: [LOOK] });
      const written = new Map<number, string>();
      const ids = new Map<number, string>();
      for (const event of events) {
        if (event.type !== "response.function_call_arguments.delta") continue;
        const { output_index: at, delta, item_id } = event;
        written.set(at, (written.get(at) ?? "") + delta);
        assert.equal(ids.get(at) ?? item_id, item_id);
        ids.set(at, item_id);
      }
      assert.equal(new Set(ids.values()).size, 3);
      const { output } = lastOf(events);
      assert.deepEqual(
        [...written].map(([at, text]) => [output[at]?.id, JSON.parse(text)]),
        places.map((at, index) => [[...ids.values()][index], { at }]),
      );
      const made = output.filter((item) => item.type === "function_call");
      assert.equal(new Set(made.map(({ call_id }) => call_id)).size, 3);
    });
  }

  const piece = (tool_calls: readonly object[], finish_reason: string | null = null): string =>
    JSON.stringify({ id: "c", choices: [{ index: 0, delta: { tool_calls }, finish_reason }] });
  const begin = (index: number, id: string): object => ({
    index,
    id,
    type: "function",
    function: { name: "look", arguments: "" },
  });
  const more = (index: number, text: string, id?: string): object => ({
    index,
    ...(id ? { id } : {}),
    function: { arguments: text },
  });

  for (const [how, pieces] of Object.entries({
    "in turns": [
      piece([begin(0, "x"), begin(1, "y")]),
      piece([more(1, '{"at":')]),
      piece([more(0, '{"at":"a"')]),
      piece([more(1, '"b"}'), more(0, "}")]),
    ],
    "all under the index 0": [
      piece([begin(0, "x")]),
      piece([more(0, '{"at":"a"}')]),
      piece([begin(0, "y")]),
      piece([more(0, '{"at":"b"}')]),
    ],
  })) {
    it(`are kept apart where their pieces come ${how}`, async (t) => {
      const body = [...pieces, piece([], "tool_calls"), "[DONE]"];
      const upstream = await startChatUpstream({ engine: script(reply.raw(body)) });
      t.after(() => upstream.close());
      const server = await startServer(t, script(), modelAt(upstream, "openai-chat"));
      const { output } = lastOf(await server.stream({ input: "Look.", tools: [LOOK] }));
      const calls = output.map((item) =>
        item.type === "function_call" ? [item.call_id, JSON.parse(item.arguments)] : item.type,
      );
      assert.deepEqual(calls, [
        ["x", { at: "a" }],
        ["y", { at: "b" }],
      ]);
    });
  }
});

describe("21: any provider behind the Responses API", () => {
  const ask = createServers();
  for (const name of PROVIDER_NAMES) {
    it(`answers plainly, streamed, with a call, and continues (${name})`, async () => {
      const answer = (request: ModelRequest): Reply =>
        request.tools.length > 0 && request.items.length === 1
          ? reply.calls([{ name: "look", arguments: { at: "it" } }])
          : reply.text("Ok.");
      const { server } = await ask(name, answer);
      const plain = await server.create({ input: "Say ok." });
      assert.equal(plain.status, "completed");
      assert.notEqual(plain.output_text, "");
      const streamed = lastOf(await server.stream({ input: "Say ok." }));
      assert.equal(streamed.output_text, plain.output_text);
      const tool_choice = { type: "function", name: "look" };
      const asked = { input: "Look at it.", tools: [LOOK], tool_choice };
      const call = (await server.create(asked)).output.find(({ type }) => type === "function_call");
      assert.ok(call?.type === "function_call");
      const result = { type: "function_call_output", call_id: call.call_id, output: "A cat." };
      const chain = [{ role: "user", content: "Look at it." }, call, result];
      const next = await server.create({ input: chain, tools: [LOOK], store: false });
      assert.equal(next.status, "completed");
      assert.notEqual(next.output_text, "");
    });
  }
});
