/**
 * Defects that comparisons of other servers mention: the notes below their table of parameters. The names are those
 * of docs/server-complaints.md.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { reply, respond, script } from "../../src/testing/index.ts";
import { SCRIPTED_NAMES } from "../conformance/provider-servers.ts";
import { createServers, lastOf, typesOf } from "./server-complaints-fixture.ts";
import { startServer, type TestServer } from "./server-fixture.ts";
import { createHeldModel } from "./socket/socket-fixture.ts";

const LOOK = {
  type: "function",
  name: "look",
  description: "Looks.",
  parameters: {
    type: "object",
    properties: { at: { type: "string" } },
    required: ["at"],
    additionalProperties: false,
  },
  strict: true,
};
const FIND = { ...LOOK, name: "find" };
const OWN = { type: "mcp", server_label: "offshoot", require_approval: "never" };

interface ChatBody {
  readonly messages: { role: string; content: unknown; tool_calls?: unknown[] }[];
}

const bodyOf = ({ upstream }: TestServer): ChatBody =>
  upstream.requests.at(-1)?.body as unknown as ChatBody;

describe("what is kept", () => {
  it("note 1: is stored unless the request says no, and the answer says which", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
    );
    for (const store of [undefined, null, true]) {
      const made = await server.create({ input: "Hi", store });
      assert.equal(made.store, true);
      assert.equal((await server.ask("GET", `/v1/responses/${made.id}`)).status, 200);
    }
    assert.equal((await server.create({ input: "Hi", store: false })).store, false);
  });

  it("note 3: is the whole chain, however long", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
    );
    let previous_response_id: string | null = null;
    const words = ["one", "two", "three", "four", "five", "six"];
    for (const input of words) {
      const made: EmittedResponse = await server.create({ input, previous_response_id });
      previous_response_id = made.id;
    }
    const said = bodyOf(server).messages.filter(({ role }) => role === "user");
    assert.deepEqual(
      said.map(({ content }) => content),
      words,
    );
  });

  it("note 4: is in no conversation unless requested", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const made = await server.create({ input: "Hi" });
    assert.equal(made.conversation ?? null, null);
    const query = { tenant: "tenant", kind: "conversation", order: "oldest", limit: 1 } as const;
    assert.deepEqual(await server.responses.shelf.list(query), []);
  });

  it("note 5: is named by an id or by an object with one", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
    );
    const { body } = await server.ask("POST", "/v1/conversations", {});
    const { id } = body as { id: string };
    for (const conversation of [id, { id }]) {
      const made = await server.create({ input: "Hi", conversation });
      assert.deepEqual(made.conversation, { id });
    }
    assert.equal(bodyOf(server).messages.length, 3);
  });

  it("is deleted with the word for it, and gone", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const { id } = await server.create({ input: "Hi" });
    const path = `/v1/responses/${id}`;
    const body = { id, object: "response.deleted", deleted: true };
    assert.deepEqual(await server.ask("DELETE", path), { status: 200, body });
    assert.equal((await server.ask("GET", path)).status, 404);
    assert.equal((await server.ask("DELETE", path)).status, 404);
  });
});

describe("the background", () => {
  const ask = createServers();

  it("note 6: asks the model what the foreground asks", async () => {
    const { server, upstream } = await ask("responses", () => reply.text("{}"));
    const asked = {
      input: "Hi",
      instructions: "Be brief.",
      temperature: 0.5,
      top_p: 0.9,
      top_logprobs: 2,
      prompt_cache_key: "key",
      safety_identifier: "who",
      service_tier: "flex",
      user: "me",
      max_output_tokens: 50,
      tools: [LOOK],
      tool_choice: "none",
      parallel_tool_calls: false,
      reasoning: { effort: "low" },
      text: { format: { type: "json_object" } },
      include: ["message.output_text.logprobs"],
    };
    await server.create(asked);
    const { id } = await server.create({ ...asked, background: true });
    await server.ask("GET", `/v1/responses/${id}?stream=true`);
    const [first, second] = upstream?.requests.map(({ body }) => body) ?? [];
    // A response that can be followed later is requested as a stream.
    assert.deepEqual({ ...second, stream: false }, first);
    const { top_p, top_logprobs, prompt_cache_key } = first ?? {};
    assert.deepEqual([top_p, top_logprobs, prompt_cache_key], [0.9, 2, "key"]);
  });

  it("note 6: takes more than a hundred, and comes to each", async (t) => {
    const held = createHeldModel(() => reply.text("Ok."));
    const server = await startServer(t, held.engine, { settings: { maxBackground: 8 } });
    const ids: string[] = [];
    for (let count = 0; count < 110; count++) {
      const made = await server.create({ input: "Hi", background: true });
      assert.match(made.status, /^(queued|in_progress)$/);
      ids.push(made.id);
    }
    held.release("Hi");
    for (const id of ids) await server.ask("GET", `/v1/responses/${id}?stream=true`);
    const last = await server.ask("GET", `/v1/responses/${ids.at(-1)}`);
    assert.equal((last.body as EmittedResponse).status, "completed");
    assert.equal(server.upstream.requests.length, 110);
  });
});

describe("tools and formats", () => {
  const ask = createServers({ files: { "a.txt": "The colour is blue." } });
  const custom = { type: "custom", name: "sql" };
  const own = { ...OWN, allowed_tools: ["bash_read"] };
  const tools = [LOOK, FIND, custom, own];
  const CHOICES: readonly (readonly [unknown, string])[] = [
    ["none", "none"],
    ["auto", "auto"],
    ["required", "required"],
    [{ type: "function", name: "look" }, "look"],
    [{ type: "custom", name: "sql" }, "sql"],
    [{ type: "mcp", server_label: "offshoot", name: "bash_read" }, "offshoot__bash_read"],
  ];

  for (const name of SCRIPTED_NAMES.filter((one) => one !== "responses")) {
    it(`note 9: every form of \`tool_choice\` reaches the model (${name})`, async () => {
      for (const [tool_choice, expected] of CHOICES) {
        const { server, asked } = await ask(name, () => reply.text("Ok."));
        const made = await server.create({ input: "Hi", tools, tool_choice });
        const ignored = made.offshoot?.ignored.join(", ") ?? "";
        const choice = asked[0]?.tool_choice;
        const named = typeof choice === "object" && "name" in choice ? choice.name : choice;
        const offered = asked[0]?.tools.length;
        // A wire without it offers nothing, or only the meant tool, or reports it.
        const isMeant =
          named === expected ||
          (expected === "none" && offered === 0) ||
          (offered === 1 && JSON.stringify(asked[0]?.tools).includes(`"${expected}"`)) ||
          (name === "ollama" && expected === "required" && ignored.includes("tool_choice"));
        assert.ok(isMeant, `${JSON.stringify(tool_choice)}: ${JSON.stringify(choice)} ${offered}`);
      }
    });
  }

  for (const name of SCRIPTED_NAMES) {
    it(`note 9: \`allowed_tools\` hides the others (${name})`, async () => {
      const { server, asked, sent } = await ask(name, reply.text("Ok."));
      const tool_choice = {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "look" }],
      };
      await server.create({ input: "Hi", tools: [LOOK, FIND], tool_choice });
      const offered = asked[0]?.tools.map((tool) => "name" in tool && tool.name) ?? [];
      const isListed = /"allowed_tools"|"allowedFunctionNames":\["look"\]/.test(sent());
      assert.ok(isListed || !offered.includes("find"), sent());
      assert.ok(offered.includes("look"));
    });

    it(`notes 10, 11: \`strict\` and \`text.format\` reach the model (${name})`, async () => {
      const { server, asked, sent } = await ask(name, reply.text('{"at":"here"}'));
      const schema = LOOK.parameters;
      const format = { type: "json_schema", name: "place", schema, strict: true };
      const made = await server.create({ input: "Where?", text: { format } });
      assert.deepEqual(JSON.parse(made.output_text), { at: "here" });
      assert.equal(made.text?.format?.type, "json_schema");
      const isTold = asked[0]?.format.type === "json_schema" || /additionalProperties/.test(sent());
      assert.ok(isTold, sent());
    });
  }

  it("note 10: `strict` of a function is the client's", async () => {
    for (const strict of [true, false]) {
      const { server, asked } = await ask("chat", reply.text("Ok."));
      await server.create({ input: "Hi", tools: [{ ...LOOK, strict }] });
      const [tool] = asked[0]?.tools ?? [];
      assert.equal(tool?.type === "function" && tool.strict, strict);
    }
  });
});

describe("items", () => {
  const ask = createServers({ files: { "a.txt": "The colour is blue." } });

  it("a model's call is repeated as its own words, and developer messages count", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const input = [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Look." },
      { type: "function_call", call_id: "call_1", name: "look", arguments: '{"at":"it"}' },
      { type: "function_call_output", call_id: "call_1", output: "A cat." },
    ];
    await server.create({ input, tools: [LOOK] });
    const { messages } = bodyOf(server);
    const [rule, , call, result] = messages;
    assert.match(rule?.role ?? "", /^(system|developer)$/);
    assert.equal(rule?.content, "Be brief.");
    assert.deepEqual([call?.role, call?.tool_calls?.length], ["assistant", 1]);
    assert.deepEqual([result?.role, result?.content], ["tool", "A cat."]);
  });

  for (const name of SCRIPTED_NAMES) {
    it(`calls that the server makes are items of their own, with the right events (${name})`, async () => {
      const call = { name: "offshoot__bash_read", arguments: { filepath: "a.txt" } };
      const { server } = await ask(name, reply.calls([call]), reply.text("It is blue."));
      const tools = [{ ...OWN, allowed_tools: ["bash_read"] }];
      const events = await server.stream({ input: "Read.", tools });
      const types: string[] = typesOf(events);
      assert.ok(types.includes("response.mcp_call_arguments.delta"));
      assert.ok(types.includes("response.mcp_call_arguments.done"));
      assert.ok(!types.some((type) => type.startsWith("response.mcp_call.arguments")));
      const { output } = lastOf(events);
      assert.ok(!typesOf(output).includes("function_call"));
      const made = output.find(({ type }) => type === "mcp_call");
      assert.ok(made?.type === "mcp_call");
      assert.match(String(made.output), /The colour is blue\./);
    });

    it(`ids are never the same twice (${name})`, async () => {
      const answer = reply.reasoning(
        "Hm.",
        reply.calls([{ name: "look", arguments: { at: "it" } }], { text: "I look." }),
      );
      const { server } = await ask(name, () => answer);
      const body = { input: "Look.", tools: [LOOK], reasoning: { effort: "high" } };
      const made = [await server.create(body), await server.create(body)];
      made.push(await server.create({ ...body, store: false }));
      const ids = made.flatMap(({ id, output }) => [id, ...output.map((item) => String(item.id))]);
      assert.equal(new Set(ids).size, ids.length, ids.join(" "));
    });
  }
});
