/** Where an agent's model is asked, and that no server gets another server's key. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { AgentTask } from "../../src/agent/task.ts";
import { parseAgentFile } from "../../src/delegation/agents/agent-file.ts";
import { toWish } from "../../src/delegation/agents/agent-wish.ts";
import type { AgentDefinition } from "../../src/delegation/agents/definition.ts";
import { toChildTask } from "../../src/delegation/child-task.ts";
import { toTask } from "../../src/runtime/run-request.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { reply, script, startChatUpstream } from "../../src/testing/index.ts";
import { startOpenUpstream } from "../open-upstream.ts";

const SERVER = "http://127.0.0.1:9/v1";

function parse(...lines: string[]): Promise<AgentDefinition> {
  const text = ["---", "name: a", "description: Does it.", ...lines, "---", "Be brief."].join("\n");
  return parseAgentFile(text, "a.md");
}

async function childOf(
  parent: Omit<Partial<AgentTask>, "session">,
  ...lines: string[]
): Promise<AgentTask> {
  const task = toTask({ model: "custom/main", input: "Hi", ...parent, limits: NO_LIMITS });
  const call = { label: "one", prompt: "Look.", instructions: null, summaryPrompt: undefined };
  const wish = toWish(
    await parse(...lines),
    { ...call, tools: undefined, maxTurns: undefined },
    [],
  );
  const bounds = { tools: [], maxTurns: 1, limits: NO_LIMITS, summary: "auto" } as const;
  return toChildTask(task, wish, bounds);
}

describe("the address in an agent file", () => {
  it("is a URL, an API and the name of a variable", async () => {
    const { url, provider, apiKeyName } = await parse(
      "model: custom/m",
      `url: ${SERVER}`,
      "provider: openai-chat",
      "api_key_name: MY_KEY",
    );
    assert.deepEqual([url, provider, apiKeyName], [SERVER, "openai-chat", "MY_KEY"]);
  });

  for (const [lines, why] of [
    [[`url: ${SERVER}`], /^a\.md:4: `url` needs `model` with it/],
    [["api_key_name: MY_KEY"], /`api_key_name` needs `model` with it/],
    [["model: custom/m", "url: ftp://x"], /^a\.md:5: `url` must be an http or https URL/],
    [["model: custom/m", "provider: ''"], /`provider` must be the name of an API/],
  ] as const) {
    it(`is refused: ${lines.join(", ")}`, async () => {
      await assert.rejects(parse(...lines), { code: "invalid_request", message: why });
    });
  }

  it("never shows what looks like a key", async () => {
    const key = `AIza${"x1".repeat(20)}`;
    for (const line of [`api_key_name: ${key}`, "url: http://me:s3cret@host/v1"]) {
      const refused = parse("model: custom/m", line);
      await assert.rejects(refused, (thrown: Error) => !/AIza|s3cret/.test(thrown.message));
    }
  });
});

describe("a child of an agent with an address", () => {
  const parent = { provider: "openai-responses", url: "http://parent/v1", api_key_name: "PARENT" };
  const addressOf = ({ provider, url, api_key_name }: AgentTask): unknown => [
    provider,
    url,
    api_key_name,
  ];

  it("is asked there, and its parent's key is not sent", async () => {
    const child = await childOf(parent, "model: custom/m", `url: ${SERVER}`);
    assert.deepEqual(addressOf(child), [null, SERVER, null]);
  });

  it("does not send a key of the file to a server of its parent", async () => {
    const child = await childOf(parent, "model: custom/m", "api_key_name: MINE");
    assert.deepEqual(addressOf(child), [null, null, "MINE"]);
  });

  it("keeps its parent's server if the file names only the API, and the vendor is the same", async () => {
    const same = await childOf(parent, "model: custom/m", "provider: openai-chat");
    assert.deepEqual(addressOf(same), ["openai-chat", "http://parent/v1", "PARENT"]);
    const other = await childOf(parent, "model: openai/m", "provider: openai-chat");
    assert.deepEqual(addressOf(other), ["openai-chat", null, null]);
  });

  it("runs there, and the server sees only the key of the file", async (t) => {
    const call = { label: "one", task_prompt: "Look.", agent: "a" };
    const parent = await startChatUpstream({
      engine: script(reply.calls([{ name: "subagent", arguments: call }]), reply.text("Done.")),
    });
    const child = await startOpenUpstream(() => ({ text: "Seen." }));
    t.after(() => Promise.all([parent.close(), child.close()]));
    const agents = [await parse("model: custom/m", `url: ${child.url}`, "api_key_name: CHILD")];
    const env = { PARENT: "parent-secret", CHILD: "child-secret" };
    const runtime = await createRuntime({ agents, env });
    t.after(() => runtime.close());
    const run = await runtime.run({
      model: "custom/main",
      provider: "openai-chat",
      url: parent.url,
      input: "Go",
      api_key_name: "PARENT",
      tools: ["subagent"],
    });
    assert.equal((await run.result()).output_text, "Done.");
    assert.deepEqual(
      child.sent.map(({ headers, body }) => [headers.authorization, body["model"]]),
      [["Bearer child-secret", "m"]],
    );
    assert.equal(parent.requests[0]?.headers["authorization"], "Bearer parent-secret");
    assert.match(JSON.stringify(parent.requests[1]?.body), /Seen\./);
  });

  it("stays the same when its agent is asked again, like its tools and turns", async (t) => {
    const again = { label: "two", task_prompt: "More.", continue: "one" };
    const parent = await startChatUpstream({
      engine: script(
        reply.calls([
          { name: "subagent", arguments: { label: "one", task_prompt: "x", agent: "a" } },
        ]),
        reply.calls([
          { name: "subagent", arguments: again },
          { name: "subagent", arguments: { ...again, allowed_tools: ["write"] } },
          { name: "subagent", arguments: { ...again, max_turns: 50 } },
        ]),
        reply.text("Done."),
      ),
    });
    const child = await startOpenUpstream(() => ({ text: "Seen." }));
    t.after(() => Promise.all([parent.close(), child.close()]));
    const agents = [
      await parse(
        ...["model: custom/m", `url: ${child.url}`, "api_key_name: CHILD"],
        ...["tools: [read]", "budget:", "  turns: 2"],
      ),
    ];
    const env = { PARENT: "parent-secret", CHILD: "child-secret" };
    const runtime = await createRuntime({ agents, env });
    t.after(() => runtime.close());
    const run = await runtime.run({
      model: "custom/main",
      provider: "openai-chat",
      url: parent.url,
      input: "Go",
      api_key_name: "PARENT",
      tools: ["read", "write", "subagent"],
    });
    assert.equal((await run.result()).output_text, "Done.");
    assert.deepEqual(
      child.sent.map(({ headers }) => headers.authorization),
      ["Bearer child-secret", "Bearer child-secret"],
    );
    assert.equal(
      parent.requests.length,
      3,
      "nothing of the child's was asked of its parent's server",
    );
    const told = JSON.stringify(parent.requests[2]?.body);
    assert.match(told, /The agent `a` has no tool `write`/);
    assert.match(told, /at most 2 turns, and max_turns asks for 50/);
  });
});

describe("a child of a run that fell back to the embedded model", () => {
  const parent = { model: "embedded/offline", fell_back: true };

  it("has fallen back, too, unless its agent names a model", async () => {
    assert.equal((await childOf(parent)).fell_back, true);
    assert.equal((await childOf(parent, "model: embedded/offline")).fell_back, undefined);
    assert.equal((await childOf({ model: "embedded/offline" })).fell_back, undefined);
  });

  it("a child of the embedded fallback fills no schema", async (t) => {
    const schema =
      "output_schema: { type: object, properties: { result: { type: integer } }, required: [result] }";
    const agents = [await parse(schema)];
    const runtime = await createRuntime({ agents, env: {} });
    t.after(() => runtime.close());
    const tools = ["subagent"];
    const input = 'use subagent with {"label": "one", "agent": "a", "task_prompt": "compute 6*7"}';
    const chosen = await runtime.run({ model: "embedded/offline", tools, input });
    assert.match((await chosen.result()).output_text, /\{\\"result\\":42\}/);
    const run = await runtime.run({ ...parent, tools, input });
    const { ending, output_text } = await run.result();
    assert.deepEqual([ending, output_text], ["refused", ""]);
  });
});
