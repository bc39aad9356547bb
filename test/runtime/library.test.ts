/** What a program may do with a runtime: its own provider, partial limits, text, a second turn, invalid input. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/runtime/runtime.ts";
import { createScriptedProvider, reply } from "../../src/testing/index.ts";

async function open(t: TestContext, options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({ env: {}, ...options });
  t.after(() => runtime.close());
  return runtime;
}

const EMBEDDED = { model: "embedded/offline" };

describe("a runtime with a provider of one's own", () => {
  it("asks it for any name of a model", async (t) => {
    const provider = createScriptedProvider(reply.text("Mine."));
    const runtime = await open(t, { provider });
    const run = await runtime.run({ model: "mine/first", input: "Hi" });
    const end = await run.result();
    assert.deepEqual([end.ending, end.output_text, end.cost_usd], ["completed", "Mine.", null]);
  });
});

describe("a run in a program", () => {
  it("gives its text as it comes", async (t) => {
    const runtime = await open(t);
    const run = await runtime.run({ ...EMBEDDED, input: "say hello world" });
    const pieces: string[] = [];
    for await (const piece of run.text()) pieces.push(piece);
    assert.equal(pieces.join(""), "hello world");
    assert.equal((await run.result()).output_text, "hello world");
  });

  it("returns its conversation for a second turn", async (t) => {
    const runtime = await open(t);
    const first = await runtime.run({ ...EMBEDDED, input: "my name is Ada" });
    const question = { type: "message", role: "user", content: "what is my name?" } as const;
    const input = [...(await first.items()), question];
    const second = await runtime.run({ ...EMBEDDED, input });
    assert.equal((await second.result()).output_text, "Your name is Ada.");
  });

  it("may have some limits, and no others", async (t) => {
    const runtime = await open(t);
    const run = await runtime.run({ ...EMBEDDED, input: "say hi", limits: { usd: 0.5 } });
    assert.equal((await run.result()).ending, "completed");
  });

  it("takes messages without their type", async (t) => {
    const runtime = await open(t);
    const input = JSON.parse('[{"role": "user", "content": "say hi"}]');
    assert.equal((await (await runtime.run({ ...EMBEDDED, input })).result()).output_text, "hi");
  });

  it("can be cancelled when it has ended, which changes nothing", async (t) => {
    const runtime = await open(t);
    const run = await runtime.run({ ...EMBEDDED, input: "say hi" });
    await run.result();
    await run.cancel();
    assert.equal((await run.result()).ending, "completed");
  });

  const BAD: readonly (readonly [object, string, RegExp])[] = [
    [{ input: "Hi" }, "model", /`model` is missing/],
    [EMBEDDED, "input", /`input` is missing/],
    [{ ...EMBEDDED, input: "Hi", max_turns: -1 }, "max_turns", /a whole number from 1, not -1/],
    [{ ...EMBEDDED, input: "Hi", maxTurns: 1 }, "maxTurns", /no field `maxTurns`.*`max_turns`/],
    [{ ...EMBEDDED, input: [] }, "input", /empty/],
    [
      { ...EMBEDDED, input: "Hi", limits: { turn: 1 } },
      "limits.turn",
      /^Unknown limit `turn`\. Did you mean `turns`\?$/,
    ],
    [
      { ...EMBEDDED, input: "Hi", limits: { usd: "1" } },
      "limits.usd",
      /^`limits\.usd` must be a number from 0, or null for no limit, not `"1"`\.$/,
    ],
    [{ ...EMBEDDED, input: "Hi", limits: { tokens: -1 } }, "limits.tokens", /from 0.*not `-1`/],
    [
      { ...EMBEDDED, input: "Hi", limits: { dollars: 1 } },
      "limits.dollars",
      /Unknown limit `dollars`\. Limits: .*`?usd/,
    ],
  ];
  for (const [request, param, message] of BAD) {
    it(`is refused for ${JSON.stringify(request)}`, async (t) => {
      const runtime = await open(t);
      const asked = JSON.parse(JSON.stringify(request));
      await assert.rejects(runtime.run(asked), { code: "invalid_request", param, message });
    });
  }
});

describe("the options of a runtime", () => {
  it("are refused if one is unknown", async () => {
    const options = JSON.parse('{"env": {}, "providers": []}');
    await assert.rejects(createRuntime(options), {
      code: "invalid_request",
      param: "providers",
      message: "A runtime has no option `providers`. Did you mean `provider`?",
    });
  });

  for (const tools of [[{ name: "weather" }], [null], { name: "weather" }]) {
    it(`are refused with ${JSON.stringify(tools)} as tools`, async () => {
      await assert.rejects(createRuntime(JSON.parse(JSON.stringify({ tools }))), {
        code: "invalid_request",
        param: "tools",
        message: /must be a list of tools that `defineTool` made/,
      });
    });
  }

  it("belong to a runtime that starts no run after `close()`", async (t) => {
    const runtime = await open(t);
    await runtime.close();
    const message = /^The runtime was closed, so it starts no more runs/;
    await assert.rejects(runtime.run({ ...EMBEDDED, input: "Hi" }), { message });
  });

  const AGENT = { name: "counter", description: "Counts.", instructions: "Count." };

  it("accept agents as objects of three fields", async (t) => {
    const provider = createScriptedProvider(
      reply.calls([
        {
          name: "subagent",
          arguments: { label: "count", agent: "counter", task_prompt: "one two" },
        },
      ]),
      reply.text("Two."),
      reply.text("There are two."),
    );
    const runtime = await open(t, { provider, agents: [AGENT] });
    const run = await runtime.run({ model: "mine/first", input: "Count", tools: ["subagent"] });
    assert.equal((await run.result()).output_text, "There are two.");
    assert.equal(provider.requests[1]?.instructions, "Count.");
  });

  const WRONG: readonly (readonly [object, RegExp])[] = [
    [{ ...AGENT, name: "Bad name" }, /^The agent `Bad name` cannot be used: `name` must be/],
    [{ ...AGENT, description: " " }, /`counter` cannot be used: `description` is missing\.$/],
    [{ ...AGENT, tool: ["read"] }, /unknown field `tool`; did you mean `tools`\?$/],
    [{ ...AGENT, budget: { turn: 2 } }, /unknown field `turn`; did you mean `turns`\?$/],
    [
      { ...AGENT, budget: { turns: 0 } },
      /`budget\.turns` must be a whole number from 1 to 50, not 0/,
    ],
    [{ ...AGENT, tools: ["raed"] }, /No tool fits `raed`\. Did you mean `read`\?/],
  ];
  for (const [agent, message] of WRONG) {
    it(`are refused with the agent ${JSON.stringify(agent)}`, async () => {
      const agents = JSON.parse(JSON.stringify([agent]));
      await assert.rejects(createRuntime({ env: {}, agents }), {
        code: "invalid_request",
        message,
      });
    });
  }

  it("are refused with two agents of one name", async () => {
    await assert.rejects(createRuntime({ env: {}, agents: [AGENT, AGENT] }), /the same name/);
  });
});
