/**
 * The plan of a run, before anything is sent: what may run, with which model, tools, paths and hosts, and what it may
 * cost. Children are made by the functions that make them when they are spawned, so the plan shows what would really
 * happen. Pure.
 */

import type { Account } from "../agent/account.ts";
import { estimateInput } from "../agent/call-estimate.ts";
import { type Limits, mapKinds } from "../agent/limits.ts";
import type { AgentTask } from "../agent/task.ts";
import { toFailure } from "../base/failure.ts";
import type { FunctionTool } from "../protocol/tools.ts";
import { type GrantLayer, sandboxOf } from "../tools/gate/grant.ts";
import { toWish } from "./agents/agent-wish.ts";
import type { AgentDefinition } from "./agents/definition.ts";
import type { ChildWish } from "./child.ts";
import { toCeiling, toChildTask, toMaxTurns } from "./child-task.ts";
import { toFirstRequest } from "./first-request.ts";
import {
  type CostRange,
  type PlannedModel,
  toCostRange,
  toMostUsd,
  toTreeRange,
} from "./plan-cost.ts";
import { type PlannedShare, toShares } from "./plan-shares.ts";
import type { DelegationSettings } from "./settings.ts";
import { isDelegating, withCompanions } from "./tools/names.ts";

/** Crosses the wire: `offshoot run --plan --output json`. */
export interface Plan {
  readonly object: "plan";
  readonly run: PlannedRun;
  /** A child without an agent, with the limits it has if its call sets none. */
  readonly subagent: PlannedRun | null;
  readonly agents: readonly PlannedRun[];
  /** How deep runs may nest below this one. */
  readonly max_depth: number;
  /** The most runs below it, at any depth; null for any number. */
  readonly max_children: number | null;
  /** The handling of calls that need approval. */
  readonly approve: string;
  /** Delegation that may cost more needs approval; null if none does. */
  readonly asks_above_usd: number | null;
  /** The cost with everything below it. */
  readonly total_cost_usd: CostRange;
}

export interface PlannedRun {
  readonly name: string;
  readonly description: string | null;
  readonly model: string;
  readonly model_reason: string;
  /** All tools that its model is offered, also those that come with others. */
  readonly tools: readonly string[];
  /** The folder it works in. */
  readonly root: string;
  /** Globs below that folder; a path must match one of each list. Empty for all of the folder. */
  readonly reads: readonly (readonly string[])[];
  readonly writes: readonly (readonly string[])[];
  /** Globs for host names; a host must match one of each list. Empty for any host. */
  readonly hosts: readonly (readonly string[])[];
  readonly sandbox: string;
  readonly max_turns: number;
  /** For a child: what one alone is given. */
  readonly limits: Limits;
  /** For a child: what several of one turn are given. Empty if there is nothing to share. */
  readonly shares: readonly PlannedShare[];
  readonly timeout_s: number | null;
  /** How much of its parent's conversation is sent with its task. */
  readonly inherited_tokens: number;
  /** An estimate of what its first model call sends; a child's task is not known yet. */
  readonly first_request_tokens: number;
  /** The cost of the run by itself, without what it starts. */
  readonly cost_usd: CostRange;
  /** Why it could not be started; null if it can. */
  readonly problem: string | null;
}

export interface PlanParts {
  readonly settings: DelegationSettings;
  readonly agents: readonly AgentDefinition[];
  /** All tools that the run has, also those that delegate. */
  readonly specs: readonly FunctionTool[];
  readonly timeoutMs: number | undefined;
  readonly thresholdUsd: number | undefined;
  /** Throws for an unknown model. */
  modelOf(ref: string): PlannedModel;
}

export function toPlan(task: AgentTask, parts: PlanParts): Plan {
  const { settings, agents, thresholdUsd, timeoutMs } = parts;
  const canDelegate = task.tools.some(isDelegating) && task.depth < settings.maxDepth;
  const run = planRun(task, { name: "run", description: null, timeoutMs, shares: [] }, parts);
  const subagent = canDelegate ? planChild(task, PLAIN, parts) : undefined;
  const named = canDelegate ? agents.map((agent) => planAgent(task, agent, parts)) : [];
  const below = [...(subagent ? [subagent] : []), ...named].filter(({ problem }) => !problem);
  const children = canDelegate ? task.limits.children : 0;
  return {
    object: "plan",
    run,
    subagent: subagent ?? null,
    agents: named,
    max_depth: canDelegate ? settings.maxDepth - task.depth : 0,
    max_children: children,
    approve: task.approve,
    asks_above_usd: thresholdUsd ?? null,
    total_cost_usd: toTreeRange({
      limits: task.limits,
      own: run.cost_usd,
      below: below.map(({ cost_usd }) => cost_usd),
      models: [run, ...below].map(({ model }) => parts.modelOf(model)),
      children,
    }),
  };
}

/**
 * Why delegation needs approval: it may cost more than the threshold, or any amount. Undefined if it needs none.
 * `wishes` are all children of the call.
 */
export function findApprovalReason(
  node: { readonly account: Account; readonly task: Pick<AgentTask, "model"> },
  wishes: readonly Pick<ChildWish, "limits" | "model">[],
  { thresholdUsd, modelOf }: Pick<PlanParts, "thresholdUsd" | "modelOf">,
): string | undefined {
  if (thresholdUsd === undefined) return undefined;
  let sum = 0;
  const { left } = node.account;
  const free = mapKinds((kind) => (left[kind] === Number.POSITIVE_INFINITY ? null : left[kind]));
  for (const { limits = {}, model = node.task.model } of wishes) {
    const most = toMostUsd(toCeiling(free, limits), modelOf(model));
    const asked = `delegation that may cost more than $${thresholdUsd} needs approval`;
    if (most === null) return `nothing limits what it may cost, and ${asked}`;
    // Together they have at most what is available.
    sum = Math.min(sum + most, left.usd);
    if (sum > thresholdUsd) return `it may cost up to $${sum.toFixed(2)}, and ${asked}`;
  }
  return undefined;
}

const PLAIN: ChildWish = {
  label: "subagent",
  prompt: "",
  instructions: null,
  summaryPrompt: undefined,
  tools: undefined,
  maxTurns: undefined,
};

interface Named {
  readonly name: string;
  readonly description: string | null;
  readonly timeoutMs: number | undefined;
  readonly shares: readonly PlannedShare[];
}

function planAgent(parent: AgentTask, agent: AgentDefinition, parts: PlanParts): PlannedRun {
  const { name, description } = agent;
  try {
    const wish = toWish(agent, { ...PLAIN, label: name }, parent.tools);
    return { ...planChild(parent, wish, parts), description };
  } catch (thrown) {
    const plain = planChild(parent, { ...PLAIN, label: name }, parts);
    const tools = agent.tools ?? plain.tools;
    const { message: problem } = toFailure(thrown);
    return { ...plain, description, tools, model: agent.model ?? plain.model, problem };
  }
}

function planChild(parent: AgentTask, wish: ChildWish, parts: PlanParts): PlannedRun {
  const { settings } = parts;
  const most = toChildTask(parent, wish, {
    tools: wish.tools ?? parent.tools,
    maxTurns: toMaxTurns(wish, settings),
    summary: settings.summary,
    limits: toCeiling(parent.limits, wish.limits ?? {}),
    // As when it is spawned: its parent needs the tool to answer with.
    canAsk: parent.tools.includes("subagent"),
  });
  const shares = toShares({ ...parts, parent, wish, task: most });
  const task = { ...most, limits: shares[0]?.limits ?? most.limits };
  const timeoutMs = Math.min(settings.childTimeoutMs, wish.timeoutMs ?? settings.childTimeoutMs);
  return planRun(task, { name: wish.label, description: null, timeoutMs, shares }, parts);
}

function planRun(task: AgentTask, named: Named, { specs, modelOf }: PlanParts): PlannedRun {
  const { model, model_reason, tools, root, grant, max_turns, limits } = task;
  const first_request_tokens = estimateInput(toFirstRequest(task, specs));
  const spending = { limits, calls: max_turns, inputTokens: first_request_tokens };
  const listsOf = (kind: "reads" | "writes" | "hosts"): (readonly string[])[] =>
    grant.flatMap((layer: GrantLayer) => (layer[kind] ? [layer[kind]] : []));
  return {
    name: named.name,
    description: named.description,
    model,
    model_reason,
    root,
    tools: withCompanions(tools, task.can_ask ?? false),
    reads: listsOf("reads"),
    writes: listsOf("writes"),
    hosts: listsOf("hosts"),
    sandbox: sandboxOf(grant, task.sandbox),
    max_turns,
    limits,
    shares: named.shares,
    timeout_s: named.timeoutMs === undefined ? null : named.timeoutMs / 1000,
    // A child begins with its task alone.
    inherited_tokens: 0,
    first_request_tokens,
    cost_usd: toCostRange({ model: modelOf(model), ...spending }),
    problem: null,
  };
}
