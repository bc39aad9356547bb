/** The shares that `--plan` shows are those that children of a real run get. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { KINDS, type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import { renderPlan } from "../../src/cli/commands/plan-output.ts";
import type { AgentDefinition } from "../../src/delegation/agents/definition.ts";
import type { Plan, PlannedRun } from "../../src/delegation/plan.ts";
import { respond } from "../../src/testing/index.ts";
import { reply } from "../../src/testing/reply.ts";
import { COUNTER, eventsOfType } from "./family.ts";
import { startTree, type Tree } from "./tree-fixture.ts";

const PRICED = ["test", "small"].map((name) => ({
  vendor: "custom",
  name,
  price: { input: 3, cached: undefined, output: 15 },
}));
const limits = (some: Partial<Limits>): Limits => ({ ...NO_LIMITS, ...some });

/** With tools of its own, none of which delegates. */
const READER: AgentDefinition = { ...COUNTER, name: "reader", model: undefined, budget: {} };

interface Planned {
  readonly plan: Plan;
  readonly tree: Tree;
}

/** The root's first call takes what the plan assumes, and starts as many children. */
async function start(
  t: TestContext,
  some: Partial<Limits>,
  { count = 1, agent, ...settings }: { count?: number; agent?: string; maxParallel?: number } = {},
): Promise<Planned> {
  let input = 0;
  const calls = Array.from({ length: count }, (_, at) => {
    const label = `child ${at}`;
    const wish = { label, task_prompt: label, ...(agent === undefined ? {} : { agent }) };
    return { name: "subagent", arguments: JSON.stringify(wish) };
  });
  const engine = respond(({ items }) => {
    const [first] = items;
    const isRoot = first?.type === "message" && first.content === "go";
    if (!isRoot) return reply.text("Found.", { usage: { input: 10, output: 5 } });
    return items.length === 1
      ? reply.calls(calls, { usage: { input, output: 16 } })
      : reply.text("done");
  });
  const options = { overrides: PRICED, agents: [READER], delegation: settings };
  const tree = await startTree(t, engine, options);
  const request = { model: "custom/test", provider: "openai-chat", url: tree.upstream.url };
  const asked = { ...request, input: "go", tools: ["read", "subagent"], root: tree.root };
  const plan = await tree.runtime.plan({ ...asked, limits: limits(some) });
  input = plan.run.first_request_tokens;
  return { plan, tree };
}

const given = async ({ tree }: Planned, some: Partial<Limits>): Promise<Limits[]> => {
  const { events } = await tree.run({ limits: limits(some) });
  return eventsOfType(events, "child_start").map(
    ({ effective }) => effective["limits"] as unknown as Limits,
  );
};

function assertAlike(real: readonly Limits[], planned: PlannedRun | undefined, count: number) {
  const share = planned?.shares.find(({ children }) => children === count);
  assert.ok(share, `no share for ${count}: ${JSON.stringify(planned?.shares)}`);
  assert.equal(real.length, count);
  assert.equal(share.at_once, count);
  for (const one of real) {
    for (const kind of KINDS) {
      const own: number | null = one[kind];
      const limit: number | null = share.limits[kind];
      if (limit === null) assert.equal(own, null, kind);
      else assert.ok(Math.abs((own ?? -1) - limit) < 1e-9, `${kind}: ${own} for ${limit}`);
    }
  }
}

describe("the shares of a plan", () => {
  const ROWS: readonly Partial<Limits>[] = [
    { usd: 2, children: 4 },
    { tokens: 200_000, children: 4 },
    { turns: 40, tool_calls: 30, children: 4 },
    { usd: 1, tokens: 500_000, turns: 60, tool_calls: 30, children: 6 },
  ];
  for (const some of ROWS) {
    const most = some.children ?? 0;
    for (const count of [1, most]) {
      it(`are what each of ${count} gets, of ${JSON.stringify(some)}`, async (t) => {
        const planned = await start(t, some, { count });
        const real = await given(planned, some);
        assertAlike(real, planned.plan.subagent ?? undefined, count);
        if (count === 1) assert.deepEqual(planned.plan.subagent?.limits, real[0]);
      });
    }
  }

  it("include no children for an agent that cannot delegate", async (t) => {
    const some = { usd: 2, children: 3 };
    const planned = await start(t, some, { count: 3, agent: "reader" });
    const [agent] = planned.plan.agents;
    assert.equal(agent?.limits.children, 0);
    assertAlike(await given(planned, some), agent, 3);
  });

  it("are for as many as may work at once, if nothing limits their number", async (t) => {
    const { plan } = await start(t, { usd: 2 }, { maxParallel: 7 });
    assert.deepEqual(
      plan.subagent?.shares.map(({ children }) => children),
      [1, 7],
    );
    assert.deepEqual(plan.run.shares, []);
  });

  it("say how many would start at once if there is too little for all", async (t) => {
    const { plan } = await start(t, { tokens: 8000, children: 50 });
    const [alone, all] = plan.subagent?.shares ?? [];
    assert.equal(alone?.at_once, 1);
    assert.ok(all && all.at_once > 0 && all.at_once < 50, JSON.stringify(all));
    const text = renderPlan(plan);
    assert.match(
      text,
      /\n {2}each of 50 {3}[\d,]+ tokens, \d+ subagents?, if 50 start in one turn: \d+ at a time, the others wait for what these leave\n/,
    );
  });

  it("are nothing if the first call leaves nothing", async (t) => {
    const { plan } = await start(t, { tokens: 20, children: 2 });
    const [alone] = plan.subagent?.shares ?? [];
    assert.deepEqual([alone?.at_once, alone?.limits.tokens], [0, 0]);
    assert.match(renderPlan(plan), /\n {2}each of 2 {4}nothing: too little for a first call\n/);
  });

  it("are missing if nothing is shared", async (t) => {
    const { plan } = await start(t, {});
    assert.deepEqual(plan.subagent?.shares, []);
  });
});
