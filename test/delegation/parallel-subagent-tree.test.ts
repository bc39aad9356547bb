/** `parallel_subagent` and agents in whole runs, against a scripted server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentDefinition } from "../../src/delegation/agents/definition.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { type Reply, reply, respond } from "../../src/testing/index.ts";
import type { Question } from "../../src/tools/gate/ask.ts";
import { startTree } from "./tree-fixture.ts";

/** What the user said last to this run. */
function lastAsked({ items }: ModelRequest): string {
  const message = items.findLast((item) => item.type === "message" && item.role === "user");
  return message?.type === "message" && typeof message.content === "string" ? message.content : "";
}

const hasResult = ({ items }: ModelRequest): boolean =>
  items.some(({ type }) => type === "function_call_output");

/** The root calls the tool once and is done; the test decides what the children say. */
const delegating = (name: string, input: object, child: (request: ModelRequest) => Reply) =>
  respond((request) => {
    if (lastAsked(request) !== "go") return child(request);
    if (hasResult(request)) return reply.text("done");
    return reply.calls([{ name, arguments: JSON.stringify(input) }]);
  });

function resultIn(events: readonly RunEvent[]): string {
  const end = events.find((event) => event.type === "tool_end");
  assert.ok(end?.type === "tool_end" && end.item.type === "function_call_output");
  return String(end.item.output);
}

const childStarts = (events: readonly RunEvent[]) =>
  events.filter((event) => event.type === "child_start");

const AGENT: AgentDefinition = {
  name: "counter",
  description: "Counts.",
  path: "counter.md",
  model: "custom/small",
  tools: ["read"],
  budget: { turns: 4, seconds: 30 },
  outputSchema: {
    type: "object",
    properties: { count: { type: "integer" } },
    required: ["count"],
    additionalProperties: false,
  },
  schemaFile: undefined,
  instructions: "Count, and nothing else.",
};

const TOOLS = ["read", "subagent", "parallel_subagent"];

describe("parallel_subagent in a run", () => {
  it("runs the tasks as children and gives a result for each, in order", async (t) => {
    const tasks = ["a", "b", "c"].map((label) => ({ label, task_prompt: `Count ${label}.` }));
    const tree = await startTree(
      t,
      delegating("parallel_subagent", { tasks }, (request) => {
        const asked = lastAsked(request);
        if (asked.startsWith("Count b.")) return reply.status(401, { error: { message: "no" } });
        return reply.text("counted");
      }),
    );
    const { end, events, id } = await tree.run({ tools: TOOLS });
    assert.equal(end.ending, "completed");
    const answer = JSON.parse(resultIn(events));
    assert.deepEqual(
      answer.results.map((one: Record<string, unknown>) => [one["label"], one["success"]]),
      [
        ["a", true],
        ["b", false],
        ["c", true],
      ],
    );
    assert.equal(answer.results[0].output, "counted");
    assert.ok(answer.results[0].tokens_used > 0);
    assert.deepEqual([answer.successful, answer.failed], [2, 1]);
    const ids = childStarts(events).map(({ child_id }) => child_id);
    assert.deepEqual(ids.sort(), [`${id}/a-1.0.0`, `${id}/b-1.0.1`, `${id}/c-1.0.2`]);
    assert.equal(end.spent["children"], 3);
  });

  it("with fail_fast ends a sibling that hangs", async (t) => {
    const tasks = ["hangs", "fails", "later"].map((label) => ({ label, task_prompt: label }));
    const input = { tasks, max_concurrent: 2, fail_fast: true };
    const tree = await startTree(
      t,
      delegating("parallel_subagent", input, (request) => {
        if (lastAsked(request).startsWith("fails"))
          return reply.status(401, { error: { message: "no" } });
        return reply.silence("I begin.");
      }),
    );
    const { events, id } = await tree.run({ tools: TOOLS });
    const { results } = JSON.parse(resultIn(events));
    assert.equal(results[0].error, "Cancelled: `fails` failed (fail_fast)");
    assert.equal(results[2].error, "Not started: `fails` failed (fail_fast)");
    const end = (await tree.eventsOf(`${id}/hangs-1.0.0`)).at(-1);
    assert.ok(end?.type === "run_end" && end.ending === "cancelled");
  });

  it("is refused for an invalid task, and starts none", async (t) => {
    const tasks = [
      { label: "a", task_prompt: "A." },
      { label: "b", task_prompt: "B.", allowed_tools: ["nope"] },
    ];
    const tree = await startTree(
      t,
      delegating("parallel_subagent", { tasks }, () => reply.text("x")),
    );
    const { events } = await tree.run({ tools: TOOLS });
    assert.equal(resultIn(events), "Error: tasks[1]: Unknown tool in allowed_tools: nope");
    assert.equal(childStarts(events).length, 0);
  });
});

describe("an agent in a run", () => {
  it("works with its own instructions, model, tools and turns, and answers with its document", async (t) => {
    const seen: ModelRequest[] = [];
    const input = { label: "one", task_prompt: "How many?", agent: "counter" };
    const tree = await startTree(
      t,
      delegating("subagent", input, (request) => {
        seen.push(request);
        return reply.text(seen.length === 1 ? "three" : '{"count":3}');
      }),
      { agents: [AGENT] },
    );
    const { events } = await tree.run({ tools: TOOLS });
    const { success, output } = JSON.parse(resultIn(events));
    assert.deepEqual([success, output], [true, '{"count":3}']);
    assert.deepEqual(
      [
        seen[0]?.model,
        seen[0]?.instructions,
        seen[0]?.tools.map((one) => "name" in one && one.name),
      ],
      ["small", "Count, and nothing else.", ["read"]],
    );
    assert.equal(seen.length, 2, "the answer that was no document was sent back once");
    const [start] = childStarts(events);
    assert.deepEqual(start?.requested, {
      agent: "counter",
      model: "custom/small",
      tools: ["read"],
      max_turns: 4,
      limits: { turns: 4 },
      timeout_ms: 30_000,
    });
    assert.equal(start?.effective["timeout_ms"], 30_000);
  });

  it("is listed to the model by name and description", async (t) => {
    const seen: ModelRequest[] = [];
    const tree = await startTree(
      t,
      respond((request) => {
        seen.push(request);
        return reply.text("done");
      }),
      { agents: [AGENT] },
    );
    await tree.run({ tools: TOOLS });
    const tools = JSON.stringify(seen[0]?.tools);
    assert.equal(tools.split("counter: Counts.").length, 3, "once for each tool that delegates");
    assert.match(tools, /"agent":\{"type":"string","enum":\["counter"\]/);
  });

  for (const [what, agent, error] of [
    ["an unknown model", { model: "nowhere/x" }, /Unknown vendor `nowhere`/],
    ["a model whose key is not set", { model: "openai/gpt-5.1" }, /OPENAI_API_KEY/],
    ["a tool that its parent lacks", { tools: ["shell"] }, /needs `shell`, which its parent/],
    ["an invalid schema", { outputSchema: { type: "nope" } }, /not a valid JSON Schema/],
  ] as const) {
    it(`is refused for ${what}, before anything is started`, async (t) => {
      const input = { label: "one", task_prompt: "How many?", agent: "counter" };
      const tree = await startTree(
        t,
        delegating("subagent", input, () => reply.text("x")),
        { agents: [{ ...AGENT, ...agent }] },
      );
      const { events, end } = await tree.run({ tools: TOOLS });
      const { success, error: told } = JSON.parse(resultIn(events));
      assert.equal(success, false);
      assert.match(told, error);
      assert.equal(childStarts(events).length, 0);
      assert.equal(end.spent["children"], 0);
      assert.equal(tree.upstream.requests.length, 2, "the parent's two turns");
    });
  }
});

describe("delegation above the threshold", () => {
  const models = [
    { vendor: "custom", name: "test", price: { input: 1, cached: undefined, output: 2 } },
  ];
  const input = { label: "one", task_prompt: "Do it." };
  const start = (t: Parameters<typeof startTree>[0], asked: Question[], answer: "yes" | "no") =>
    startTree(
      t,
      delegating("subagent", input, () => reply.text("ok")),
      {
        overrides: models,
        delegation: { planThresholdUsd: 0.5 },
        ask: async (question) => {
          asked.push(question);
          return answer;
        },
      },
    );
  const limits = { turns: null, tokens: null, usd: 4, tool_calls: null, children: null };

  it("needs approval, and the model reads a denial", async (t) => {
    const asked: Question[] = [];
    const tree = await start(t, asked, "no");
    const { events } = await tree.run({ tools: TOOLS, limits });
    assert.equal(
      asked[0]?.reason,
      "it may cost up to $4.00, and delegation that may cost more than $0.5 needs approval",
    );
    assert.equal(resultIn(events), "Error: Tool call subagent was denied by user");
    assert.equal(childStarts(events).length, 0);
  });

  it("runs after a yes, and needs no approval below the threshold", async (t) => {
    const asked: Question[] = [];
    const tree = await start(t, asked, "yes");
    const { events } = await tree.run({ tools: TOOLS, limits });
    assert.deepEqual([asked.length, childStarts(events).length], [1, 1]);
    await tree.run({ tools: TOOLS, limits: { ...limits, usd: 0.4 } });
    assert.equal(asked.length, 1);
  });

  it("is refused if no person can be asked", async (t) => {
    const tree = await startTree(
      t,
      delegating("subagent", input, () => reply.text("ok")),
      { overrides: models, delegation: { planThresholdUsd: 0.5 } },
    );
    const { events } = await tree.run({ tools: TOOLS, limits });
    assert.match(resultIn(events), /there is no terminal to ask on/);
  });
});

describe("a plan of a run", () => {
  it("is made without a request, from what the run would have", async (t) => {
    const tree = await startTree(
      t,
      respond(() => assert.fail("asked")),
      { agents: [AGENT] },
    );
    const plan = await tree.runtime.plan({
      model: "custom/test",
      provider: "openai-chat",
      url: tree.upstream.url,
      input: "go",
      tools: TOOLS,
      root: tree.root,
    });
    assert.deepEqual(
      [plan.run.model, plan.agents[0]?.model, plan.max_depth, plan.total_cost_usd.unknown],
      ["custom/test", "custom/small", 3, "price"],
    );
    assert.equal(tree.upstream.requests.length, 0);
  });
});
