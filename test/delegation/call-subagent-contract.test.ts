/** The acceptance lines of the flows, a test each, and the failure flows beside them. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { encodeSse } from "../../src/base/sse.ts";
import type { RunEnd } from "../../src/protocol/run-events.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { sseExchange } from "../../src/testing/exchange/exchange.ts";
import { reply, respond, startUpstream, type Upstream } from "../../src/testing/index.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";
import { report, say } from "./child-process-fixture.ts";
import { eventsIn, outputsIn } from "./delegate.ts";
import { startTree } from "./tree-fixture.ts";

interface Called {
  /** What the parent's model is told. */
  readonly told: string;
  /** What the subprocess read; undefined if none was started. */
  readonly payload: JsonObject | undefined;
  readonly children: number;
  readonly end: RunEnd;
}

/** A parent that calls `call_subagent` once; its subprocess is a line of shell. */
async function callOnce(t: TestContext, input: JsonObject, script: string): Promise<Called> {
  const folder = createWorkspaceFolder({});
  t.after(() => folder[Symbol.dispose]());
  const file = join(folder.root, "payload.json");
  const read = `IFS= read -r line; printf '%s' "$line" > '${file}'\n${script}`;
  const told: string[] = [];
  const tree = await startTree(
    t,
    respond((request) => {
      const outputs = outputsIn(request);
      told.push(...outputs);
      const call = { name: "call_subagent", arguments: input };
      return outputs.length === 0 ? reply.calls([call]) : reply.text("Done.");
    }),
    {
      childProcess: {
        command: ["/bin/sh", "-c", read],
        grantKeyFile: join(folder.root, "keys", "grant.key"),
      },
    },
  );
  const { end, events } = await tree.run({ tools: ["read", "call_subagent"] });
  const payload = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  return { told: told[0] ?? "", payload, end, children: eventsIn(events, "child_start").length };
}

const WHOLE = [
  say("response_start"),
  say("reasoning_content", "hmm"),
  say("output_text", "Let me "),
  say("output_text", "look. "),
  say("tool_call", '{"path":"a"}'),
  say("block_end"),
  say("tool_result", "\n\nTool Result (read):\nsecret\n"),
  say("output_text", "It is 42."),
  say("block_end"),
  say("response_end"),
  report(),
].join("; ");

describe("the flow from the main agent to a subagent", () => {
  it("acceptance 1: call_subagent returns only the concatenation of output_text", async (t) => {
    const { told, end } = await callOnce(t, { prompt: "Count." }, WHOLE);
    assert.equal(told, "Let me look. It is 42.");
    assert.deepEqual([end.ending, end.output_text], ["completed", "Done."]);
  });

  it("acceptance 2: unknown names in tool_subset start no subprocess", async (t) => {
    const { told, payload, children, end } = await callOnce(
      t,
      { prompt: "Count.", tool_subset: ["read", "nope"] },
      WHOLE,
    );
    assert.equal(told, "Error: Unknown tool names: nope");
    assert.deepEqual([payload, children], [undefined, 0]);
    assert.equal(end.ending, "completed", "the main agent continues");
  });

  it("gives the subprocess its parent's model, provider, address and key name", async (t) => {
    const input = { prompt: "Count.", system_prompt: "Be exact.", tool_subset: ["read"] };
    const { payload } = await callOnce(t, input, WHOLE);
    const { model, provider, url, api_key_name, prompt, system_prompt, tool_subset } =
      payload ?? {};
    assert.deepEqual([model, provider, api_key_name], ["custom/test", "openai-chat", null]);
    assert.match(String(url), /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    assert.deepEqual([prompt, system_prompt, tool_subset], ["Count.", "Be exact.", ["read"]]);
  });

  it("answers with an error that has the exit code if the subprocess exits with another code than 0", async (t) => {
    const { told, end } = await callOnce(t, { prompt: "Count." }, "echo 'it broke' >&2; exit 7");
    assert.equal(told, "Error: Subagent exited with code 7: it broke");
    assert.equal(end.ending, "completed", "the main agent continues");
  });
});

const frame = (type: string, more: JsonObject): string => encodeSse(type, { type, ...more });

const CALLED = [
  frame("response.created", { response: { id: "resp_of_created" } }),
  frame("response.output_item.added", {
    output_index: 0,
    item: { type: "tool_call", id: "call_1", name: "read" },
  }),
  "data: {this is not JSON\n\n",
  frame("response.tool_call_arguments.delta", { output_index: 0, delta: '{"path":' }),
  frame("response.tool_call_arguments.delta", { output_index: 0, delta: '"a.txt"}' }),
  frame("response.completed", { response: { id: "resp_of_created", status: "completed" } }),
];
const ANSWERED = [
  frame("response.created", { response: { id: "resp_second" } }),
  frame("response.output_text.delta", { delta: "It " }),
  frame("response.output_text.delta", { delta: "says hello." }),
  frame("response.completed", { response: { id: "resp_second", status: "completed" } }),
];

/** A run over a Responses server that asks for a file and then answers. */
async function respondOnce(t: TestContext): Promise<{ upstream: Upstream; end: RunEnd }> {
  const folder = createWorkspaceFolder({ "a.txt": "hello" });
  const streams = [CALLED, ANSWERED];
  const upstream = await startUpstream({
    path: "/responses",
    check: () => undefined,
    answer: async () => sseExchange(streams.shift() ?? []),
  });
  const runtime = await createRuntime({ env: {} });
  t.after(async () => {
    await runtime.close();
    await upstream.close();
    folder[Symbol.dispose]();
  });
  const run = await runtime.run({
    model: "custom/test",
    provider: "openai-responses",
    url: upstream.url,
    input: "Read a.txt.",
    instructions: "Be brief.",
    tools: ["read"],
    root: folder.root,
  });
  return { upstream, end: await run.result() };
}

const inputOf = (upstream: Upstream, at: number): readonly JsonObject[] => {
  const input: Json | undefined = upstream.requests[at]?.body["input"];
  return Array.isArray(input) ? input.filter(isJsonObject) : [];
};

describe("the flow over OpenAI Responses", () => {
  it("acceptance 1: the tool call flow makes no chat messages", async (t) => {
    const { upstream, end } = await respondOnce(t);
    assert.deepEqual([end.message, end.output_text, end.tool_calls], ["", "It says hello.", 1]);
    assert.deepEqual(
      upstream.requests.map(({ path }) => path),
      ["/v1/responses", "/v1/responses"],
    );
    for (const { body } of upstream.requests) assert.ok(!("messages" in body));
    const roles = [0, 1].flatMap((at) => inputOf(upstream, at).map(({ role }) => role ?? "none"));
    assert.deepEqual(roles, ["user", "none"], "no `assistant`, no `tool`, no `system`");
  });

  it("acceptance 2: the follow-up names the id of response.created, and sends only the result", async (t) => {
    const { upstream } = await respondOnce(t);
    const [first, second] = upstream.requests.map(({ body }) => body["previous_response_id"]);
    assert.deepEqual([first, second], [undefined, "resp_of_created"]);
    const [result, ...more] = inputOf(upstream, 1);
    assert.deepEqual([result?.["type"], result?.["tool_call_id"]], ["tool_result", "call_1"]);
    assert.match(String(result?.["content"]), /hello/);
    assert.deepEqual(more, []);
  });

  it("begins with the user's input_text, the instructions, the tools and a stream", async (t) => {
    const { upstream } = await respondOnce(t);
    const { instructions, tools, stream } = upstream.requests[0]?.body ?? {};
    const text = [{ type: "input_text", text: "Read a.txt." }];
    assert.deepEqual(inputOf(upstream, 0), [{ role: "user", content: text }]);
    assert.deepEqual([instructions, stream], ["Be brief.", true]);
    assert.equal(Array.isArray(tools) && tools.length, 1);
  });

  it("continues after a line of the stream that is not JSON", async (t) => {
    assert.ok(CALLED.some((line) => line.includes("not JSON")));
    const { end } = await respondOnce(t);
    assert.equal(end.ending, "completed");
  });
});
