/**
 * Complaints of users of other servers: state. The numbers are those of docs/server-complaints.md.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { type Reply, reply, respond, script, startChatUpstream } from "../../src/testing/index.ts";
import { checkError } from "../conformance/check.ts";
import {
  PROVIDER_NAMES,
  PROVIDERS,
  SCRIPTED_NAMES,
  startProviderServer,
} from "../conformance/provider-servers.ts";
import { newDatabasePath } from "../store/database-path.ts";
import {
  createServers,
  createStepModel,
  idOf,
  lastOf,
  modelAt,
  openStream,
  typesOf,
} from "./server-complaints-fixture.ts";
import { readEvents, startServer } from "./server-fixture.ts";

const LOOK = {
  ...{ type: "function", name: "look", description: "Looks." },
  parameters: { type: "object", properties: { at: { type: "string" } } },
};
const OWN = { type: "mcp", server_label: "offshoot", require_approval: "never" };

const callOf = ({ output }: EmittedResponse): { call_id: string } => {
  const call = output.find(({ type }) => type === "function_call");
  assert.ok(call?.type === "function_call", JSON.stringify(output));
  return call;
};
const resultOf = (response: EmittedResponse, output = "A cat."): object => ({
  ...{ type: "function_call_output", call_id: callOf(response).call_id, output },
});

describe("6: background mode", () => {
  it("answers before the model does, and shows how far it is", async (t) => {
    const model = createStepModel();
    const server = await startServer(t, model.engine);
    const made = await server.create({ input: "Hi", background: true });
    assert.match(made.status, /^(queued|in_progress)$/);
    const path = `/v1/responses/${made.id}`;
    model.say("One ");
    const stream = await openStream(server, `${path}?stream=true`);
    await stream.until((text) => text.includes('"delta":"One "'));
    const running = (await server.ask("GET", path)).body as EmittedResponse;
    assert.equal(running.status, "in_progress");
    model.say("two.");
    model.end();
    await stream.rest();
    const ended = (await server.ask("GET", path)).body as EmittedResponse;
    assert.deepEqual([ended.status, ended.output_text], ["completed", "One two."]);
  });

  it("tells clients that poll when to come again", async (t) => {
    const model = createStepModel();
    const server = await startServer(t, model.engine);
    const body = JSON.stringify({ input: "Hi", background: true });
    const made = await fetch(`${server.url}/v1/responses`, { method: "POST", body });
    assert.ok(Number(made.headers.get("openai-poll-after-ms")) > 0);
    const { id } = (await made.json()) as EmittedResponse;
    const path = `${server.url}/v1/responses/${id}`;
    const running = await fetch(path);
    assert.ok(Number(running.headers.get("openai-poll-after-ms")) > 0);
    await running.text();
    model.say("Done.");
    model.end();
    await server.ask("GET", `/v1/responses/${id}?stream=true`);
    const ended = await fetch(path);
    assert.equal(ended.headers.get("openai-poll-after-ms"), null);
    await ended.text();
  });

  it("continues after a restart, and is seen by every server of one file", async (t) => {
    const storePath = newDatabasePath();
    const replies = [reply.silence("I begin"), reply.silence("Again")];
    const first = await startServer(t, script(...replies), { storePath });
    const { id } = await first.create({ input: "Hi", background: true });
    await first.upstream.waitForRequest(1);
    const other = await startServer(t, script(), { storePath });
    const seen = (await other.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
    assert.match(seen.status, /^(queued|in_progress)$/);
    await first.runtime.close();

    const again = await startServer(t, script(), { storePath });
    await again.responses.start();
    await first.upstream.waitForRequest(2);
    const cancelled = await again.ask("POST", `/v1/responses/${id}/cancel`);
    assert.equal((cancelled.body as EmittedResponse).status, "cancelled");
  });
});

describe("a run of the command line whose process died", () => {
  it("is left to `offshoot runs resume`: a server of the same file does not continue it", async (t) => {
    const storePath = newDatabasePath();
    const upstream = await startChatUpstream({ engine: script(reply.silence("I begin")) });
    t.after(() => upstream.close());
    const command = await createRuntime({ storePath });
    const model = { model: "custom/scripted", provider: "openai-chat", url: upstream.url };
    const { id } = await command.run({ ...model, input: "Hi" });
    await upstream.waitForRequest(1);
    await command.close();

    const server = await startServer(t, script(), { storePath });
    assert.deepEqual(await server.responses.start(), []);
    assert.equal((await server.runtime.engine.status(id))?.epoch, 1);
    assert.equal(upstream.requests.length, 1);
  });
});

describe("8: state on servers that have none", () => {
  const ask = createServers();
  for (const name of PROVIDER_NAMES) {
    it(`is kept here, for chains and conversations (${name})`, async () => {
      const { server, asked } = await ask(name, () => reply.text("Ok."));
      const first = await server.create({ input: "My colour is blue." });
      const second = await server.create({ input: "And?", previous_response_id: first.id });
      const third = await server.create({ input: "Which?", previous_response_id: second.id });
      assert.equal(third.previous_response_id, second.id);
      const { body } = await server.ask("POST", "/v1/conversations", {});
      const conversation = (body as { id: string }).id;
      for (const input of ["One.", "Two."]) await server.create({ input, conversation });
      const listed = await server.ask("GET", `/v1/conversations/${conversation}/items`);
      assert.equal((listed.body as { data: unknown[] }).data.length, 4);
      if (name === "embedded") return;
      const told = asked.map(({ items }) => items.length);
      assert.deepEqual(told, [1, 3, 5, 1, 3]);
    });
  }
});

describe("9: what is stored", () => {
  it("is nothing where `store` is false, in the file and in memory", async (t) => {
    const storePath = newDatabasePath();
    const calls = reply.calls([{ name: "offshoot__bash_read", arguments: { filepath: "a.txt" } }]);
    const replies = [reply.text("MARKER"), reply.text("MARKER"), calls, reply.text("MARKER")];
    const server = await startServer(t, script(...replies), {
      ...{ storePath, files: { "a.txt": "MARKER" } },
    });
    await server.create({ input: "MARKER", store: false });
    await server.stream({ input: "MARKER", store: false, instructions: "MARKER" });
    const tools = [{ ...OWN, allowed_tools: ["bash_read"] }];
    const made = await server.create({ input: "MARKER", store: false, tools });
    assert.equal(made.output_text, "MARKER");
    for (const path of [storePath, `${storePath}-wal`]) {
      if (existsSync(path)) assert.ok(!readFileSync(path).includes("MARKER"), path);
    }
    assert.deepEqual(await server.responses.passing.record.listRuns({ limit: 10 }), []);
  });

  it("does not vanish: not after other requests, not with a restart", async (t) => {
    const storePath = newDatabasePath();
    const engine = respond(() => reply.text("Ok."));
    const server = await startServer(t, engine, { storePath });
    const first = await server.create({ input: "Hi" });
    for (let count = 0; count < 20; count++) await server.create({ input: "Hi" });
    assert.deepEqual((await server.ask("GET", `/v1/responses/${first.id}`)).body, first);
    await server.runtime.close();
    const next = await startServer(t, engine, { storePath });
    assert.deepEqual((await next.ask("GET", `/v1/responses/${first.id}`)).body, first);
    const made = await next.create({ input: "Again", previous_response_id: first.id });
    assert.equal(made.status, "completed");
  });

  it("is named in the refusal of a chain that continues a missing response", async (t) => {
    const server = await startServer(t, script());
    const body = { input: "Hi", previous_response_id: "resp_gone" };
    checkError(await server.ask("POST", "/v1/responses", body), {
      ...{ status: 400, code: "previous_response_not_found", param: "previous_response_id" },
    });
  });
});

describe("10: chains keep tool calls", () => {
  const ask = createServers({ files: { "a.txt": "The colour is blue." } });
  for (const name of SCRIPTED_NAMES) {
    it(`and their results, over several responses (${name})`, async () => {
      const answers = [
        reply.calls([{ name: "look", arguments: { at: "it" } }], { text: "I look." }),
        reply.text("It is a cat."),
        reply.text("Black."),
      ];
      const { server, asked } = await ask(name, ...answers);
      const first = await server.create({ input: "Look.", tools: [LOOK] });
      const input = [resultOf(first)];
      const chained = { previous_response_id: first.id, tools: [LOOK] };
      const second = await server.create({ input, ...chained });
      const body = { input: "Which colour?", previous_response_id: second.id, tools: [LOOK] };
      assert.equal((await server.create(body)).output_text, "Black.");
      const told = asked[2]?.items.filter(({ type }) => type !== "reasoning") ?? [];
      assert.deepEqual(typesOf(told), [
        ...["message", "message", "function_call", "function_call_output"],
        ...["message", "message"],
      ]);
      assert.match(JSON.stringify(told), /A cat\./);
    });

    it(`that this server made, with the same MCP server again (${name})`, async () => {
      const answer = ({ tools, items }: ModelRequest): Reply => {
        const isDone = items.some(({ type }) => type === "function_call_output");
        const named = tools.flatMap((tool) => (tool.type === "function" ? tool.name : []));
        const read = named.find((one) => one.includes("bash_read")) ?? "";
        if (isDone) return reply.text("It is blue.");
        return reply.calls([{ name: read, arguments: { filepath: "a.txt" } }]);
      };
      const { server, asked } = await ask(name, answer);
      const tools = [{ ...OWN, allowed_tools: ["bash_read"] }];
      const first = await server.create({ input: "Read.", tools });
      const body = { input: "Sure?", tools, previous_response_id: first.id, stream: true };
      const second = lastOf(await server.stream(body));
      assert.equal(second.output_text, "It is blue.");
      assert.match(JSON.stringify(asked.at(-1)?.items), /The colour is blue\./);
    });
  }
});

describe("11: ids of items that were never stored", () => {
  const ask = createServers();
  const input = [
    { role: "user", content: "Look.", id: "msg_foreign_1" },
    { type: "reasoning", id: "rs_foreign", summary: [] },
    {
      ...{ type: "message", role: "assistant", id: "msg_foreign_2", status: "completed" },
      content: [{ type: "output_text", text: "I look.", annotations: [] }],
    },
    { type: "function_call", id: "fc_foreign", call_id: "call_1", name: "look", arguments: "{}" },
    { type: "function_call_output", id: "fco_foreign", call_id: "call_1", output: "A cat." },
  ];
  for (const name of SCRIPTED_NAMES) {
    for (const store of [true, false]) {
      it(`are the client's own business (${name}, store ${store})`, async () => {
        const { server, asked } = await ask(name, reply.text("Ok."));
        const made = await server.create({ input, store, tools: [LOOK] });
        assert.equal(made.output_text, "Ok.");
        assert.match(JSON.stringify(asked[0]?.items), /I look\..*A cat\./);
      });
    }
  }

  it("are refused by their place where they stand for an item", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const { output } = await server.create({ input: "Hi", store: false });
    const body = { input: [{ role: "user", content: "And?" }, { id: output[0]?.id }] };
    const answer = await server.ask("POST", "/v1/responses", body);
    checkError(answer, { status: 400, param: "input[1].id" });
    assert.match(JSON.stringify(answer.body), /must be given whole/);
  });
});

describe("12: reasoning over several turns", () => {
  const ask = createServers({ files: { "a.txt": "The colour is blue." } });
  const words = {
    ...{ tools: [LOOK], reasoning: { effort: "high", summary: "auto" } },
    include: ["reasoning.encrypted_content"],
  };
  const thinking = (at: string): Reply =>
    reply.reasoning(`Hm, ${at}.`, reply.calls([{ name: "look", arguments: { at } }]));
  const answers = (): Reply[] => [thinking("one"), thinking("two"), reply.text("A cat.")];
  /** The field of each wire that proves a thought to be its own. */
  const PROOFS: Readonly<Partial<Record<string, RegExp>>> = {
    messages: /"signature":"ErUB/g,
    bedrock: /"signature":"/g,
    gemini: /"thoughtSignature":"/g,
    responses: /"encrypted_content":"/g,
  };

  for (const [name, proof] of Object.entries(PROOFS) as [keyof typeof PROVIDERS, RegExp][]) {
    const countProofs = (text: string): number => text.match(proof)?.length ?? 0;

    it(`continues in a stored chain, although the client did not ask to see it (${name})`, async () => {
      const { server, sent } = await ask(name, ...answers());
      const first = await server.create({ input: "Look.", ...words, include: [] });
      assert.ok(!JSON.stringify(first).includes('encrypted_content":"'), "it was not asked for");
      const next = { input: [resultOf(first)], previous_response_id: first.id, ...words };
      const second = await server.create(next);
      const last = { input: [resultOf(second)], previous_response_id: second.id, ...words };
      assert.equal((await server.create(last)).output_text, "A cat.");
      assert.equal(countProofs(sent()), 2, sent());
    });

    it(`continues over one WebSocket without storage (${name})`, async () => {
      const { server, sent } = await ask(name, ...answers());
      const socket = await server.connect();
      const asked = { tools: [LOOK], reasoning: words.reasoning, store: false };
      let input: object[] = [{ role: "user", content: "Look." }];
      let previous_response_id: string | null = null;
      for (const text of ["", "", "A cat."]) {
        const events = await socket.turn({ ...asked, input, previous_response_id });
        const made = events.at(-1)?.response as EmittedResponse | undefined;
        assert.equal(made?.output_text, text, JSON.stringify(events.at(-1)));
        if (text === "") input = [resultOf(made)];
        previous_response_id = made.id;
      }
      assert.equal(countProofs(sent()), 2, sent());
      socket.raw.close();
      await socket.closed;
    });

    it(`continues around calls that this server makes (${name})`, async () => {
      const answer = (request: ModelRequest): Reply => {
        if (request.items.some(({ type }) => type === "function_call_output")) {
          return reply.text("It is blue.");
        }
        const call = { name: "offshoot__bash_read", arguments: { filepath: "a.txt" } };
        return reply.reasoning("Hm.", reply.calls([call]));
      };
      const { server, sent } = await ask(name, answer);
      const tools = [{ ...OWN, allowed_tools: ["bash_read"] }];
      const first = await server.create({ input: "Read.", ...words, tools });
      assert.deepEqual(
        [first.output_text, countProofs(sent())],
        ["It is blue.", 1],
        "within the answer",
      );
      await server.create({ input: "Sure?", previous_response_id: first.id, ...words, tools });
      assert.ok(countProofs(sent()) >= 1, "and after it");
    });

    it(`continues through \`encrypted_content\`, on another server, too (${name})`, async (t) => {
      const { server, upstream } = await ask(name, ...answers());
      const question = { role: "user", content: "Look." };
      const first = await server.create({ input: [question], store: false, ...words });
      const shown = first.output.find(({ type }) => type === "reasoning");
      assert.ok(shown?.type === "reasoning" && shown.encrypted_content, JSON.stringify(first));
      const { model, provider } = PROVIDERS[name];
      const { settings } = modelAt(upstream ?? assert.fail(), String(provider), model);
      const sealKey = new Uint8Array(32).fill(7);
      const setup = { settings: { ...settings, sealKey } };
      const other = await startProviderServer(t, name, script(), setup);
      const since = [question, ...first.output, resultOf(first)];
      const second = await other.server.create({ input: since, store: false, ...words });
      const more = [...since, ...second.output, resultOf(second)];
      const third = await server.create({ input: more, store: false, ...words });
      assert.equal(third.output_text, "A cat.");
    });
  }

  for (const name of SCRIPTED_NAMES) {
    it(`is left out, not refused, where another vendor has sealed it (${name})`, async () => {
      const { server } = await ask(name, reply.text("Ok."));
      for (const encrypted_content of ["gAAAAA_of_openai", "sealed.messages.eyJhIjoxfQ"]) {
        const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content };
        const input = [{ role: "user", content: "Hi" }, thought, { role: "user", content: "?" }];
        const { server: again } = await ask(name, reply.text("Ok."));
        assert.equal(again, server);
        assert.equal((await again.create({ input })).output_text, "Ok.");
      }
    });
  }
});

describe("19: compaction", () => {
  const ask = createServers();
  const input = [
    { role: "user", content: "My colour is blue." },
    { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "A cat." },
    { role: "assistant", content: "Noted." },
  ];
  for (const name of PROVIDER_NAMES) {
    it(`works at its own address, and what it gives is taken back (${name})`, async () => {
      const { server, asked } = await ask(name, reply.text("MEMORY"), reply.text("Blue."));
      const { status, body } = await server.ask("POST", "/v1/responses/compact", {
        ...{ input, model: PROVIDERS[name].model },
      });
      assert.equal(status, 200, JSON.stringify(body));
      const { output } = body as { output: { type: string }[] };
      assert.equal(output.filter(({ type }) => type === "compaction").length, 1);
      const question = { role: "user", content: "Which colour?" };
      const next = await server.create({ input: [...output, question], store: false });
      assert.equal(next.status, "completed");
      if (name === "embedded") return;
      assert.equal(next.output_text, "Blue.");
      assert.match(JSON.stringify(asked[1]?.items), /MEMORY/);
    });

    it(`answers a \`compaction_trigger\` with one item, streamed (${name})`, async () => {
      const { server } = await ask(name, reply.text("MEMORY"));
      const body = { input: [...input, { type: "compaction_trigger" }], store: false };
      const stream = await openStream(server, "/v1/responses", { ...body, stream: true });
      const events = readEvents(await stream.rest());
      assert.deepEqual(typesOf(lastOf(events).output), ["compaction"]);
      assert.match(idOf(events), /^resp_/);
    });
  }
});
