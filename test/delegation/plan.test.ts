import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAccount } from "../../src/agent/account.ts";
import { type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import { type AgentTask, SAFEGUARDS } from "../../src/agent/task.ts";
import { Failure } from "../../src/base/failure.ts";
import { renderPlan } from "../../src/cli/commands/plan-output.ts";
import type { AgentDefinition } from "../../src/delegation/agents/definition.ts";
import { findApprovalReason, type PlanParts, toPlan } from "../../src/delegation/plan.ts";
import type { PlannedModel } from "../../src/delegation/plan-cost.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";

const TASK: AgentTask = {
  ...SAFEGUARDS,
  model: "x/dear",
  model_reason: "--model",
  provider: null,
  url: null,
  api_key_name: null,
  instructions: null,
  items: [{ type: "message", role: "user", content: "Hello there." }],
  tools: ["read", "subagent"],
  tool_choice: "auto",
  max_turns: 10,
  temperature: null,
  max_output_tokens: null,
  think: false,
  format: { type: "text" },
  root: "/project",
  on_throw: "tell_model",
};

/** USD per million tokens, in and out. */
const model = (input: number, output: number, window?: number): PlannedModel => ({
  contextTokens: window,
  maxOutputTokens: window === undefined ? undefined : window / 10,
  costOf: (usage) => (usage.input_tokens * input + usage.output_tokens * output) / 1_000_000,
});

const MODELS: Readonly<Record<string, PlannedModel>> = {
  "x/dear": model(1, 10),
  "x/window": model(1, 10, 100_000),
  "x/cheap": model(0.1, 1, 1000),
  "x/free": model(0, 0),
  "x/unknown": { ...model(0, 0), costOf: () => undefined },
};

const PARTS: PlanParts = {
  settings: DELEGATION,
  agents: [],
  specs: [{ type: "function", name: "read", description: "x".repeat(300), parameters: {} }],
  timeoutMs: undefined,
  thresholdUsd: undefined,
  modelOf(ref) {
    const found = MODELS[ref];
    if (!found) throw new Failure("invalid_request", `There is no model ${ref}.`);
    return found;
  },
};

const AGENT: AgentDefinition = {
  name: "reviewer",
  description: "Reviews.",
  path: "reviewer.md",
  model: "x/cheap",
  tools: ["read"],
  budget: { turns: 2, usd: 0.5, seconds: 60 },
  outputSchema: undefined,
  schemaFile: undefined,
  instructions: "Review it.",
};

const limits = (some: Partial<Limits>): Limits => ({ ...NO_LIMITS, ...some });

describe("a plan", () => {
  it("says what the run and its children would have, before anything is sent", () => {
    const task: AgentTask = {
      ...TASK,
      limits: limits({ tokens: 1000, usd: 2, children: 6 }),
      grant: [{ reads: ["src/**"], writes: [], hosts: ["example.com"], sandbox: "sandbox" }],
    };
    const plan = toPlan(task, { ...PARTS, agents: [AGENT], thresholdUsd: 1, timeoutMs: 5000 });
    const { run, subagent, agents } = plan;
    assert.deepEqual([plan.max_depth, plan.max_children, plan.asks_above_usd], [3, 6, 1]);
    assert.deepEqual(
      [run.reads, run.writes, run.hosts, run.sandbox, run.timeout_s],
      [[["src/**"]], [[]], [["example.com"]], "sandbox", 5],
    );
    assert.deepEqual(
      [subagent?.model, subagent?.tools, subagent?.reads, subagent?.max_turns],
      ["x/dear", ["read", "subagent", "subagents", "ask_parent"], [["src/**"]], 10],
    );
    // Half of what its parent's first call leaves: 162 tokens, $0.000305.
    const half = { tokens: 419, usd: 0.9998475 };
    assert.deepEqual(subagent?.limits, limits({ ...half, children: 2 }));
    assert.equal(subagent?.timeout_s, 1800);
    const [agent] = agents;
    assert.deepEqual(
      [agent?.name, agent?.model, agent?.tools, agent?.max_turns, agent?.timeout_s, agent?.problem],
      ["reviewer", "x/cheap", ["read"], 2, 60, null],
    );
    assert.deepEqual(agent?.limits, limits({ turns: 2, tokens: 419, usd: 0.5, children: 0 }));
  });

  it("counts what is sent; a child inherits none of it", () => {
    const long = [{ type: "message", role: "user", content: "x".repeat(9000) }] as const;
    const { run, subagent } = toPlan({ ...TASK, items: long }, PARTS);
    assert.deepEqual([run.inherited_tokens, subagent?.inherited_tokens], [0, 0]);
    assert.ok(run.first_request_tokens > 3000);
    const child = subagent?.first_request_tokens ?? 0;
    assert.ok(child > 100 && child < 300, `${child} for the tools alone`);
  });

  it("has no children if the run may not delegate", () => {
    for (const task of [
      { ...TASK, tools: ["read"] },
      { ...TASK, depth: 3 },
    ]) {
      const plan = toPlan(task, { ...PARTS, agents: [AGENT] });
      assert.deepEqual(
        [plan.subagent, plan.agents, plan.max_depth, plan.max_children],
        [null, [], 0, 0],
      );
    }
  });

  it("says why an agent could not be started", () => {
    const agents = [
      { ...AGENT, tools: ["shell"] },
      { ...AGENT, name: "other", model: "x/none" },
    ];
    const plan = toPlan(TASK, { ...PARTS, agents });
    assert.match(plan.agents[0]?.problem ?? "", /needs `shell`, which its parent does not have/);
    assert.equal(plan.agents[1]?.problem, "There is no model x/none.");
    assert.match(renderPlan(plan), / {2}cannot run +There is no model x\/none\.\n/);
  });

  it("is refused for an unknown model", () => {
    assert.throws(() => toPlan({ ...TASK, model: "x/none" }, PARTS), /There is no model/);
  });
});

describe("the cost range of a plan", () => {
  const MOST: readonly (readonly [string, Partial<AgentTask>, number | null, string | null])[] = [
    ["the limit in dollars", { limits: limits({ usd: 2 }) }, 2, null],
    ["all tokens at the dearest price", { limits: limits({ tokens: 1_000_000 }) }, 10, null],
    ["the tighter of two", { limits: limits({ tokens: 100_000, usd: 3 }) }, 1, null],
    ["unlimited where nothing limits it", {}, null, "limit"],
    ["unknown where the price is", { model: "x/unknown" }, null, "price"],
    ["nothing where the model is free", { model: "x/free" }, 0, null],
    // Ten calls, each with 90,000 tokens in and 10,000 out.
    ["full windows where it cannot delegate", { model: "x/window", tools: [] }, 1.9, null],
    [
      "full windows of the run and of each child",
      { model: "x/window", limits: limits({ children: 2 }) },
      1.9 * 3,
      null,
    ],
    [
      "as many full windows as there are turns",
      { model: "x/window", limits: limits({ turns: 5 }) },
      0.19 * 5,
      null,
    ],
  ];
  for (const [what, task, most, unknown] of MOST) {
    it(`ends at ${what}`, () => {
      const { total_cost_usd: cost } = toPlan({ ...TASK, ...task }, PARTS);
      assert.equal(cost.unknown, unknown);
      if (most === null) assert.equal(cost.most, null);
      else assert.ok(Math.abs((cost.most ?? -1) - most) < 1e-9, `${cost.most}`);
    });
  }

  it("begins with the first request and no answer", () => {
    const { run, total_cost_usd } = toPlan(TASK, PARTS);
    assert.equal(total_cost_usd.least, run.first_request_tokens / 1_000_000);
  });

  it("counts input that is written to a cache if that costs more", () => {
    const cached: PlannedModel = {
      ...model(1, 1),
      costOf: ({ input_tokens, input_tokens_details: { cache_write_tokens: written } }) =>
        (input_tokens - written + written * 2) / 1_000_000,
    };
    const task = { ...TASK, limits: limits({ tokens: 1_000_000 }) };
    assert.equal(toPlan(task, { ...PARTS, modelOf: () => cached }).total_cost_usd.most, 2);
  });
});

describe("a plan as text", () => {
  it("writes amounts of tokens with thousands separators, as all other output does", () => {
    const text = renderPlan(toPlan({ ...TASK, limits: limits({ tokens: 1_250_000 }) }, PARTS));
    assert.match(text, / {2}limits +\d+ turns, 1,250,000 tokens\b/);
  });

  it("names everything, each in a line", () => {
    const task = { ...TASK, limits: limits({ usd: 2, children: 4 }) };
    const text = renderPlan(toPlan(task, { ...PARTS, agents: [AGENT] }));
    for (const line of [
      /^Nothing was sent\./,
      /\nrun\n {2}model +x\/dear \(--model\)\n {2}tools +read, subagent, subagents\n {2}reads +\/project\n/,
      /\nsubagent \(at most 4, 3 levels deep\)\n {2}model +x\/dear \(its parent's\)\n/,
      /\nagent reviewer: Reviews\.\n {2}model +x\/cheap \(asked for by its parent\)\n/,
      / {2}limits +2 turns, \$0\.50, 0 subagents, 60 s\n {2}each of 4 +2 turns, \$0\.\d+, 0 subagents, if 4 start in one turn\n {2}inherits +0 tokens of its parent's conversation\n/,
      /\nShares {6}subagents of one turn share equally what the run's first call leaves/,
      /\nTotal cost {2}\$0\.00\d+ to \$2\.00\n/,
    ]) {
      assert.match(text, line);
    }
  });

  it("shares no dollars among subagents that cost nothing", () => {
    const limited = limits({ usd: 2, tokens: 1_000_000, children: 4 });
    const text = renderPlan(toPlan({ ...TASK, model: "x/free", limits: limited }, PARTS));
    assert.match(text, /\n {2}each of 4 +[^$\n]*tokens[^$\n]*, if 4 start in one turn\n/);
  });

  it("says what is not known", () => {
    assert.match(
      renderPlan(toPlan(TASK, PARTS)),
      /Total cost {2}from \$.*no upper limit \(set `--max/,
    );
    const unknown = renderPlan(toPlan({ ...TASK, model: "x/unknown" }, PARTS));
    assert.match(unknown, /Total cost {2}unknown: the price of a model is not known\n/);
    assert.match(renderPlan(toPlan({ ...TASK, model: "x/free" }, PARTS)), /Total cost {2}free\n/);
  });
});

describe("delegation above a threshold", () => {
  const reason = (
    some: Partial<Limits>,
    wishes: number | readonly Partial<Limits>[],
    thresholdUsd?: number,
  ): string | undefined => {
    const node = { account: createAccount(limits(some)), task: { model: "x/dear" } };
    const named = typeof wishes === "number" ? [] : wishes.map((limits) => ({ limits }));
    const each = typeof wishes === "number" ? Array.from({ length: wishes }, () => ({})) : named;
    return findApprovalReason(node, each, { thresholdUsd, modelOf: PARTS.modelOf });
  };

  it("needs approval when it could get more", () => {
    assert.equal(
      reason({ usd: 4 }, 1, 1.5),
      "it may cost up to $4.00, and delegation that may cost more than $1.5 needs approval",
    );
    assert.equal(reason({ usd: 4 }, 1, 4), undefined);
  });

  it("needs approval when several together could get more", () => {
    const each = { usd: 1 };
    assert.match(reason({ usd: 4 }, [each, each, each], 2.5) ?? "", /^it may cost up to \$3\.00/);
    assert.equal(reason({ usd: 4 }, [each, each, each], 3), undefined);
    assert.equal(reason({ usd: 2 }, [each, each, each], 2), undefined);
  });

  it("needs approval when nothing limits it", () => {
    assert.match(reason({}, 1, 100) ?? "", /^nothing limits what it may cost/);
  });

  it("counts tokens at the highest price", () => {
    assert.match(reason({ tokens: 400_000 }, 1, 1) ?? "", /up to \$4\.00/);
  });

  it("needs no approval without a threshold, or if the model is free", () => {
    assert.equal(reason({}, 1), undefined);
    const node = { account: createAccount(NO_LIMITS), task: { model: "x/dear" } };
    const parts = { thresholdUsd: 0, modelOf: PARTS.modelOf };
    assert.equal(findApprovalReason(node, [{ model: "x/free" }], parts), undefined);
  });
});
