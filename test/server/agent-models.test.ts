/** Agents of a server by their names, where a model's name stands: in every API, with the bounds of their files. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { z } from "zod";
import type { JsonObject } from "../../src/base/json.ts";
import type { AgentOptions } from "../../src/delegation/agents/own-agents.ts";
import type { ServerAppOptions } from "../../src/server/index.ts";
import { type Reply, reply } from "../../src/testing/index.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { openTestApp, type TestApp } from "./embedded/test-app.ts";

const AGENT: AgentOptions = {
  name: "reviewer",
  description: "Reviews.",
  instructions: "You review.",
  tools: ["clock", "subagent"],
  expose: ["model"],
};
const MODEL = "agent/reviewer";
const USER = [{ role: "user", content: "Go" }];

const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  parameters: z.object({}),
  readOnly: true,
  run: async () => "12:00",
});
const bell = defineTool({
  name: "bell",
  description: "Rings.",
  parameters: z.object({}),
  readOnly: true,
  run: async () => "",
});

interface Asking extends TestApp {
  ask(path: string, body: object, key?: string): Promise<{ status: number; body: JsonObject }>;
}

async function open(
  t: TestContext,
  replies: readonly Reply[],
  { agent = {}, ...options }: ServerAppOptions & { agent?: Partial<AgentOptions> } = {},
): Promise<Asking> {
  const app = await openTestApp(t, replies, {
    agents: [
      { ...AGENT, ...agent },
      { ...AGENT, name: "hidden", expose: ["mcp"] },
    ],
    tools: [clock, bell],
    settings: { server: { tools: ["clock", "bell", "subagent"] } },
    ...options,
  });
  return {
    ...app,
    async ask(path, body, key = app.key) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const answer = await app.app.fetch(new Request(`http://localhost${path}`, init));
      return { status: answer.status, body: (await answer.json()) as JsonObject };
    },
  };
}

function toolsOf({ asked }: TestApp, at = 0): string[] {
  return (asked[at]?.tools ?? []).map((tool) => ("name" in tool ? String(tool.name) : tool.type));
}

describe("an agent in place of a model", () => {
  it("answers in every API, as its file says, and the answer repeats what the client wrote", async (t) => {
    const replies = ["One.", "Two.", "Three."].map((text) => reply.text(text));
    const opened = await open(t, replies);
    const { ask, asked } = opened;
    const own = { type: "function", name: "weather", parameters: { type: "object" } };
    const first = await ask("/v1/responses", {
      model: MODEL,
      input: "Go",
      instructions: "Be short.",
      tools: [own],
    });
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.deepEqual([first.body["model"], first.body["instructions"]], [MODEL, "Be short."]);
    const shown = first.body["tools"] as JsonObject[];
    assert.deepEqual(
      shown.map(({ name }) => name),
      ["weather"],
    );
    assert.match(JSON.stringify(first.body["output"]), /One\./);
    assert.equal(asked[0]?.instructions, "You review.\n\nBe short.");
    assert.deepEqual(toolsOf(opened).sort(), ["offshoot__clock", "offshoot__subagent", "weather"]);
    const chat = await ask("/v1/chat/completions", { model: MODEL, messages: USER });
    assert.match(JSON.stringify(chat.body), /Two\./);
    assert.equal(chat.body["model"], MODEL);
    const message = await ask("/v1/messages", { model: MODEL, max_tokens: 90, messages: USER });
    assert.match(JSON.stringify(message.body), /Three\./);
    assert.equal(message.body["model"], MODEL);
    assert.deepEqual(
      asked.map(({ instructions }) => instructions?.slice(0, 11)),
      Array(3).fill("You review."),
    );
  });

  it("has its tools run by the server, delegates, and all of it is one tree in the record", async (t) => {
    const call = { name: "offshoot__subagent", arguments: { label: "a", task_prompt: "Look" } };
    const opened = await open(t, [
      reply.calls([{ name: "offshoot__clock", arguments: {} }]),
      reply.calls([call]),
      reply.text("Looked.", { usage: { input: 30, output: 5 } }),
      reply.text("Noon.", { usage: { input: 10, output: 2 } }),
    ]);
    const { status, body } = await opened.ask("/v1/responses", { model: MODEL, input: "Go" });
    assert.equal(status, 200, JSON.stringify(body));
    assert.match(JSON.stringify(body["output"]), /12:00.*Looked\..*Noon\./s);
    const id = String(body["id"]).replace("resp_", "run_");
    const key = await opened.app.createKey({ name: "viewer", scopes: ["runs"] });
    const headers = { authorization: `Bearer ${key}` };
    const run = await opened.app.fetch(
      new Request(`http://localhost/v1/runs/${id}/tree`, { headers }),
    );
    const tree = await run.text();
    assert.equal(run.status, 200, tree);
    assert.match(tree, /"a"/);
    const { total_tokens } = body["usage"] as { total_tokens: number };
    assert.ok(total_tokens >= 47, `usage is that of the tree: ${total_tokens}`);
  });

  it("keeps to the budget of its file", async (t) => {
    const clocks = Array.from({ length: 3 }, () =>
      reply.calls([{ name: "offshoot__clock", arguments: {} }]),
    );
    const { ask, asked } = await open(t, clocks, { agent: { budget: { turns: 2 } } });
    const { body } = await ask("/v1/responses", { model: MODEL, input: "Go" });
    assert.equal(body["status"], "incomplete");
    assert.equal(asked.length, 2);
  });

  it("answers with the document of its file, unless the request asks for another", async (t) => {
    const outputSchema = { type: "object", properties: { good: { type: "boolean" } } };
    const replies = [reply.text('{"good":true}'), reply.text('{"x":1}')];
    const { ask, asked } = await open(t, replies, { agent: { outputSchema } });
    await ask("/v1/responses", { model: MODEL, input: "Go" });
    const format = { type: "json_schema", name: "own", schema: { type: "object" } };
    await ask("/v1/responses", { model: MODEL, input: "Go", text: { format } });
    assert.deepEqual(
      asked.map(({ format: asked }) => asked.type === "json_schema" && asked.schema),
      [outputSchema, { type: "object" }],
    );
  });

  it("continues a conversation, and its tokens are counted as it would send them", async (t) => {
    const { ask, asked } = await open(t, [reply.text("Blue."), reply.text("Sky.")]);
    const first = await ask("/v1/responses", { model: MODEL, input: "Which colour?" });
    const previous_response_id = first.body["id"];
    await ask("/v1/responses", { model: MODEL, input: "Of what?", previous_response_id });
    assert.match(JSON.stringify(asked[1]?.items), /Which colour\?.*Blue\..*Of what\?/s);
    const counted = await ask("/v1/responses/input_tokens", { model: MODEL, input: "Go" });
    const plain = await ask("/v1/responses/input_tokens", { model: "any", input: "Go" });
    const [own, other] = [counted, plain].map(({ body }) => Number(body["input_tokens"]));
    assert.ok(Number(own) > Number(other), `${own} tokens, and ${other} without the agent`);
  });

  it("is listed as a model, if its file says so and the key may ask it", async (t) => {
    const { app, key } = await open(t, []);
    const list = async (token: string): Promise<string[]> => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await app.fetch(new Request("http://localhost/v1/models", { headers }));
      const { data } = (await answer.json()) as { data: { id: string }[] };
      return data.map(({ id }) => id).filter((id) => id.startsWith("agent/"));
    };
    assert.deepEqual(await list(key), [MODEL]);
    assert.deepEqual(await list(await app.createKey({ name: "x", models: ["gpt-*"] })), []);
    assert.deepEqual(await list(await app.createKey({ name: "y", models: ["agent/*"] })), [MODEL]);
  });

  it("gives no client more than its file and the key allow", async (t) => {
    const { ask, app, asked } = await open(t, [reply.text("Yes.")]);
    const narrow = await app.createKey({ name: "narrow", models: ["gpt-*"] });
    const refused = await ask("/v1/responses", { model: MODEL, input: "Go" }, narrow);
    assert.equal(refused.status, 403);
    for (const tool of [
      { type: "web_search" },
      { type: "mcp", server_label: "offshoot", allowed_tools: ["bell"], require_approval: "never" },
      { type: "code_interpreter", container: { type: "auto" } },
    ]) {
      const { status, body } = await ask("/v1/responses", {
        model: MODEL,
        input: "Go",
        tools: [tool],
      });
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(JSON.stringify(body), /has the tools of its file/);
    }
    const toolless = await app.createKey({ name: "toolless", catalogue: [] });
    await ask("/v1/responses", { model: MODEL, input: "Go" }, toolless);
    assert.deepEqual(asked[0]?.tools, []);
    const wrong = await ask("/v1/responses", { model: MODEL, input: "Go", instructions: 7 });
    assert.equal(wrong.status, 400);
    assert.equal(asked.length, 1);
  });
});
