/** MCP servers in requests, over HTTP: what clients see, approve and refuse. */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

describe("an MCP server in a request", () => {
  it("lists its tools, and its calls are items of their own", async (t) => {
    const small = await startSmallServer(t);
    const server = await startServer(t, script(call("look", "it"), reply.text("Done.")), {
      settings,
    });
    const events = await server.stream({ input: "Look", tools: [mcp(small.url)] });
    assert.deepEqual(
      typesOf(events).filter(
        (type, at, all) => type !== all[at - 1] && !type.startsWith("response.output_text"),
      ),
      [
        ...["response.created", "response.in_progress"],
        ...["response.output_item.added", "response.mcp_list_tools.in_progress"],
        ...["response.mcp_list_tools.completed", "response.output_item.done"],
        ...["response.output_item.added", "response.mcp_call.in_progress"],
        ...["response.mcp_call_arguments.delta", "response.mcp_call_arguments.done"],
        ...["response.mcp_call.completed", "response.output_item.done"],
        ...["response.output_item.added", "response.content_part.added"],
        ...["response.content_part.done", "response.output_item.done", "response.completed"],
      ],
    );
    assert.deepEqual(small.calls, [{ name: "look", arguments: { text: "it" } }]);
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    const made = last.response.output[1];
    assert.ok(made?.type === "mcp_call");
    assert.deepEqual([made.output, made.status], ["look did it", "completed"]);
  });

  it("offers what `allowed_tools` allows, by name or by what the server says of them", async (t) => {
    const small = await startSmallServer(t);
    for (const allowed_tools of [["look"], { tool_names: ["look"] }, { read_only: true }]) {
      const server = await startServer(t, script(reply.text("Done.")), { settings });
      await server.create({ input: "Look", tools: [mcp(small.url, { allowed_tools })] });
      const body = server.upstream.requests[0]?.body as {
        tools: { function: { name: string } }[];
      };
      assert.deepEqual(
        body.tools.map((tool) => tool.function.name),
        ["small__look"],
      );
    }
  });

  for (const [require_approval, asks] of [
    [undefined, true],
    ["always", true],
    [{ never: { tool_names: ["look"] } }, false],
    [{ never: { read_only: true } }, false],
    [{ always: { tool_names: ["look"] }, never: { read_only: true } }, true],
    [{ always: { tool_names: ["change"] } }, true],
    [{ never: {} }, true],
  ] as const) {
    it(`${asks ? "asks" : "does not ask"} with ${JSON.stringify(require_approval)}`, async (t) => {
      const small = await startSmallServer(t);
      const replies = [call("look", "it"), ...(asks ? [] : [reply.text("Done.")])];
      const server = await startServer(t, script(...replies), { settings });
      const made = await server.create({
        input: "Look",
        tools: [mcp(small.url, { require_approval })],
      });
      const kind = asks ? "mcp_approval_request" : "mcp_call";
      assert.equal(made.output[1]?.type, kind);
      assert.equal(made.status, "completed");
      assert.equal(small.calls.length, asks ? 0 : 1);
    });
  }
});

describe("an approval", () => {
  const ask = { require_approval: "always" };

  it("makes the call when the next response says yes, once", async (t) => {
    const small = await startSmallServer(t);
    const replies = [call("change", "it"), reply.text("Done."), reply.text("Still done.")];
    const server = await startServer(t, script(...replies), { settings });
    const tools = [mcp(small.url, ask)];
    const first = await server.create({ input: "Change", tools });
    const [, request] = first.output;
    assert.ok(request?.type === "mcp_approval_request");
    const answer = {
      type: "mcp_approval_response",
      approval_request_id: request.id,
      approve: true,
    };
    const second = await server.create({
      input: [answer],
      previous_response_id: first.id,
      tools,
    });
    assert.deepEqual(typesOf(second.output), ["mcp_call", "message"]);
    const made = second.output[0];
    assert.ok(made?.type === "mcp_call");
    assert.equal(made.approval_request_id, request.id);
    assert.equal(made.output, "change did it");
    await server.create({ input: "And?", previous_response_id: second.id, tools });
    assert.equal(small.calls.length, 1);
    const body = server.upstream.requests.at(-1)?.body as { messages: { role: string }[] };
    assert.deepEqual(
      body.messages.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant", "user"],
    );
  });

  it("that a request answers twice is refused, whatever the answers are", async (t) => {
    const small = await startSmallServer(t);
    const server = await startServer(t, script(call("change", "it")), { settings });
    const tools = [mcp(small.url, ask)];
    const first = await server.create({ input: "Change", tools });
    const approval_request_id = (first.output[1] as { id: string }).id;
    const answer = { type: "mcp_approval_response", approval_request_id };
    for (const approve of [true, false]) {
      const input = [
        { ...answer, approve: true },
        { ...answer, approve },
      ];
      const body = { input, previous_response_id: first.id, tools };
      const { status, body: answered } = await server.ask("POST", "/v1/responses", body);
      assert.equal(status, 400, JSON.stringify(answered));
      assert.match(JSON.stringify(answered), /answered twice.*input\[1\]/);
    }
    assert.equal(small.calls.length, 0);
  });

  it("that was refused stays refused, and one that was given is used once", async (t) => {
    const small = await startSmallServer(t);
    const replies = [call("change", "it"), reply.text("No."), reply.text("Still no.")];
    const more = [call("change", "it"), reply.text("Done.")];
    const server = await startServer(t, script(...replies, ...more), { settings });
    const tools = [mcp(small.url, ask)];
    const toAnswer = (output: readonly unknown[], approve: boolean) => {
      const { id } = output.at(-1) as { id: string };
      return { type: "mcp_approval_response", approval_request_id: id, approve };
    };
    const first = await server.create({ input: "Change", tools });
    const no = await server.create({
      input: [toAnswer(first.output, false)],
      previous_response_id: first.id,
      tools,
    });
    await server.create({
      input: [toAnswer(first.output, true)],
      previous_response_id: no.id,
      tools,
    });
    assert.equal(small.calls.length, 0);
    const second = await server.create({ input: "Change", tools });
    const yes = { input: [toAnswer(second.output, true)], previous_response_id: second.id, tools };
    assert.equal((await server.create(yes)).output_text, "Done.");
    const { status, body } = await server.ask("POST", "/v1/responses", yes);
    assert.equal(status, 409, JSON.stringify(body));
    assert.equal(small.calls.length, 1);
  });

  it("works over the input alone, for clients that keep their own history", async (t) => {
    const small = await startSmallServer(t);
    const replies = [call("change", "it"), reply.text("Done.")];
    const server = await startServer(t, script(...replies), { settings });
    const asked = { role: "user", content: "Change" };
    const request = { tools: [mcp(small.url, ask)], store: false };
    const first = await server.create({ input: [asked], ...request });
    const approval = first.output.find(({ type }) => type === "mcp_approval_request") as {
      id: string;
    };
    const answer = { type: "mcp_approval_response", approval_request_id: approval.id };
    const input = [asked, ...first.output, { ...answer, approve: true }];
    const second = await server.create({ input, ...request });
    assert.equal(second.output_text, "Done.");
    assert.equal(small.calls.length, 1);
  });

  it("that is refused makes no call and tells the model why", async (t) => {
    const small = await startSmallServer(t);
    const replies = [call("change", "it"), reply.text("Well.")];
    const server = await startServer(t, script(...replies), { settings });
    const tools = [mcp(small.url, ask)];
    const first = await server.create({ input: "Change", tools });
    const approval_request_id = (first.output[1] as { id: string }).id;
    const answer = { approval_request_id, approve: false, reason: "Not on a Friday." };
    const input = [{ type: "mcp_approval_response", ...answer }];
    const second = await server.create({ input, previous_response_id: first.id, tools });
    assert.equal(second.output_text, "Well.");
    assert.equal(small.calls.length, 0);
    assert.match(JSON.stringify(server.upstream.requests.at(-1)?.body), /Not on a Friday\./);
  });

  it("that is never given does not stop the conversation", async (t) => {
    const small = await startSmallServer(t);
    const replies = [call("change", "it"), reply.text("As you like.")];
    const server = await startServer(t, script(...replies), { settings });
    const tools = [mcp(small.url, ask)];
    const first = await server.create({ input: "Change", tools });
    const second = await server.create({ input: "No.", previous_response_id: first.id, tools });
    assert.equal(second.output_text, "As you like.");
    assert.match(
      JSON.stringify(server.upstream.requests.at(-1)?.body),
      /This call was not answered/,
    );
  });
});

describe("an MCP server that is not there", () => {
  const gone = mcp("http://127.0.0.1:9/mcp");

  it("fails the request as the API does, and the stream says which", async (t) => {
    const server = await startServer(t, script(), { settings });
    const { status, body } = await server.ask("POST", "/v1/responses", {
      input: "Hi",
      tools: [gone],
    });
    assert.equal(status, 424);
    const { error } = body as { error: { message: string; type: string; code: string } };
    assert.match(error.message, /^Error retrieving tool list from MCP server: 'small'\. /);
    assert.deepEqual([error.type, error.code], ["external_connector_error", "http_error"]);
    assert.equal(server.upstream.requests.length, 0);
    const list = await server.responses.durable.record.listRuns({ limit: 1 });
    const events = await server.ask("GET", `/v1/responses/${toResponse(list[0]?.id)}?stream=true`);
    assert.match(String(events.body), /response\.mcp_list_tools\.failed/);
    assert.match(String(events.body), /response\.failed/);
  });

  it("is refused on a private network", async (t) => {
    const small = await startSmallServer(t);
    const server = await startServer(t, script());
    const { status } = await server.ask("POST", "/v1/responses", {
      input: "Hi",
      tools: [mcp(small.url)],
    });
    assert.equal(status, 403);
    assert.equal(small.headers.length, 0);
  });

  it("is left out if it is a connector that is not set up", async (t) => {
    const server = await startServer(t, script(reply.text("Hello.")));
    const tool = { type: "mcp", server_label: "mail", connector_id: "connector_gmail" };
    const made = await server.create({ input: "Hi", tools: [tool] });
    assert.equal(made.output_text, "Hello.");
    assert.match(made.metadata?.["offshoot_ignored"] ?? "", /mcp mail/);
  });
});

const toResponse = (runId = ""): string => `resp_${runId.replace(/^run_/, "")}`;

describe("secrets of an MCP server", () => {
  it("are in no file, no event and no answer", async (t) => {
    const small = await startSmallServer(t);
    const folder = mkdtempSync(join(tmpdir(), "offshoot-secrets-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const server = await startServer(t, script(call("look", "it"), reply.text("Done.")), {
      settings,
      storePath: join(folder, "runs.db"),
    });
    const secrets = { authorization: "swordfish-1", headers: { "x-key": "swordfish-2" } };
    const events = await server.stream({ input: "Look", tools: [mcp(small.url, secrets)] });
    assert.equal(small.headers[0]?.["authorization"], "Bearer swordfish-1");
    assert.equal(small.headers[0]?.["x-key"], "swordfish-2");
    assert.doesNotMatch(JSON.stringify(events), /swordfish/);
    await server.runtime.close();
    const files = readdirSync(folder);
    assert.ok(files.length > 0);
    for (const file of files) {
      assert.doesNotMatch(readFileSync(join(folder, file), "latin1"), /swordfish/, file);
    }
  });
});
