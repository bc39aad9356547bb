/** `offshoot/openai-agents` with the real Agents SDK: an app in the same process answers, no port is opened. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, handoff, hostedMcpTool, type Model, Runner, shellTool, tool } from "@openai/agents";
import { z } from "zod";
import {
  createAgentsModel,
  createAgentsProvider,
  type OffshootAgentsModel,
} from "../../../src/frameworks/openai-agents/index.ts";
import { reply } from "../../../src/testing/index.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { openTestApp, type TestApp } from "../../server/embedded/test-app.ts";

const weather = tool({
  name: "weather",
  description: "How warm it is.",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `${city}: 18 degrees`,
});

const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  parameters: z.object({}),
  readOnly: true,
  run: async () => "12:00",
});

const CALL = { name: "weather", arguments: { city: "Paris" } };

describe("the Agents SDK's model", () => {
  it("is a model of the framework by its types", () => {
    const toModel = (model: OffshootAgentsModel): Model => model;
    assert.ok(toModel);
  });

  it("runs tools of the program until the answer is there", async (t) => {
    const opened = await openTestApp(t, [
      reply.reasoning("Ask first.", reply.calls([CALL])),
      reply.text("18 degrees.", { usage: { input: 40, output: 6 } }),
    ]);
    const agent = new Agent({
      name: "Guide",
      instructions: "Help.",
      model: "any",
      tools: [weather],
    });
    const { finalOutput, newItems, rawResponses } = await openRunner(opened).run(
      agent,
      "How warm?",
    );
    assert.equal(finalOutput, "18 degrees.");
    assert.deepEqual(
      newItems.map(({ type }) => type),
      ["reasoning_item", "tool_call_item", "tool_call_output_item", "message_output_item"],
    );
    assert.deepEqual(
      opened.asked[1]?.items.map(({ type }) => type),
      ["message", "reasoning", "function_call", "function_call_output"],
    );
    assert.equal(opened.asked[1]?.instructions, "Help.");
    assert.equal(rawResponses[1]?.usage.inputTokens, 40);
  });

  it("streams, hands over to other agents and fits output types", async (t) => {
    const opened = await openTestApp(t, [
      reply.calls([{ name: "transfer_to_Clerk", arguments: {} }]),
      reply.text('{"city":"Paris"}'),
    ]);
    const clerk = new Agent({
      name: "Clerk",
      model: "any",
      outputType: z.object({ city: z.string() }),
    });
    const guide = Agent.create({ name: "Guide", model: "any", handoffs: [handoff(clerk)] });
    const run = await openRunner(opened).run(guide, "Where?", { stream: true });
    const text = run.toTextStream();
    let said = "";
    for await (const piece of text) said += piece;
    await run.completed;
    assert.equal(said, '{"city":"Paris"}');
    assert.deepEqual(run.finalOutput, { city: "Paris" });
  });

  it("has the server run its own tools", async (t) => {
    const opened = await openTestApp(
      t,
      [reply.calls([{ name: "offshoot__clock", arguments: {} }]), reply.text("Noon.")],
      { tools: [clock], settings: { server: { tools: ["clock"] } } },
    );
    const tools = [hostedMcpTool({ serverLabel: "offshoot", allowedTools: ["clock"] })];
    const agent = new Agent({ name: "Guide", model: "any", tools });
    const { finalOutput, newItems } = await openRunner(opened).run(agent, "What time?");
    assert.equal(finalOutput, "Noon.");
    assert.match(JSON.stringify(newItems.map(({ rawItem }) => rawItem)), /12:00/);
  });

  it("has an agent of the server by its name, and continues with tools of the program", async (t) => {
    const delegate = { name: "offshoot__subagent", arguments: { label: "a", task_prompt: "Look" } };
    const opened = await openTestApp(
      t,
      [reply.calls([delegate]), reply.text("Looked."), reply.calls([CALL]), reply.text("Warm.")],
      {
        agents: [
          {
            name: "guide",
            description: "Guides.",
            instructions: "You guide.",
            tools: ["subagent"],
            expose: ["model"],
          },
        ],
        settings: { server: { tools: ["subagent"] } },
      },
    );
    const agent = new Agent({
      name: "Guide",
      instructions: "Be short.",
      model: "agent/guide",
      tools: [weather],
    });
    const { finalOutput, newItems } = await openRunner(opened).run(agent, "How is it?");
    assert.equal(finalOutput, "Warm.");
    assert.match(JSON.stringify(newItems.map(({ rawItem }) => rawItem)), /Looked\./);
    assert.equal(opened.asked[0]?.instructions, "You guide.\n\nBe short.");
  });

  it("says what it cannot do, and what the server refuses", async (t) => {
    const { app } = await openTestApp(t, []);
    const agent = new Agent({ name: "Guide", model: createAgentsModel(app, "any", { key: "no" }) });
    const runner = new Runner({ tracingDisabled: true });
    await assert.rejects(runner.run(agent, "Hi"), { name: "RefusedRequest", status: 401 });
    const shell = shellTool({ environment: { type: "container_auto" } });
    const withShell = new Agent({ name: "Guide", model: createAgentsModel(app), tools: [shell] });
    await assert.rejects(runner.run(withShell, "Hi"), /does not work with this model/);
  });
});

function openRunner({ app, key }: TestApp): Runner {
  const modelProvider = createAgentsProvider(app, { key });
  return new Runner({ modelProvider, tracingDisabled: true });
}
