/**
 * The shares that children of one turn would get when they start: computed by the accounts that give them, after a
 * first call of their parent that is as long as estimated and answers almost nothing. Pure.
 */

import { createAccount } from "../agent/account.ts";
import { toUsualCost } from "../agent/call-cost.ts";
import { type Amount, eachKind, KINDS, type Limits, mapKinds, NOTHING } from "../agent/limits.ts";
import type { AgentTask } from "../agent/task.ts";
import type { FunctionTool } from "../protocol/tools.ts";
import type { Usage } from "../protocol/usage.ts";
import type { ChildWish } from "./child.ts";
import { toChildCeiling } from "./child-task.ts";
import { toFirstRequest } from "./first-request.ts";
import type { PlannedModel } from "./plan-cost.ts";
import type { DelegationSettings } from "./settings.ts";

/** Crosses the wire, in a plan. */
export interface PlannedShare {
  /** How many children are started in one turn. */
  readonly children: number;
  /** How many of them begin at once; the others wait until one of these ends. */
  readonly at_once: number;
  /** The least budget that each of these begins with. It gets more while some is left. */
  readonly limits: Limits;
}

interface SharePlan {
  readonly parent: AgentTask;
  readonly wish: ChildWish;
  /** The child, with the most that it may have. */
  readonly task: AgentTask;
  readonly settings: DelegationSettings;
  readonly specs: readonly FunctionTool[];
  modelOf(ref: string): PlannedModel;
}

/** For one child alone, and for as many as may work at once; empty if the parent has nothing to divide. */
export function toShares(plan: SharePlan): PlannedShare[] {
  const { parent, settings } = plan;
  const { maxParallel, maxTotalTokens } = settings;
  const isLimited = KINDS.some((kind) => parent.limits[kind] !== null);
  if (!isLimited && maxTotalTokens === undefined) return [];
  const { children, tool_calls } = parent.limits;
  const most = Math.min(children ?? maxParallel, tool_calls ?? maxParallel, maxParallel);
  return [...new Set([1, most])].filter((count) => count > 0).map((count) => toShare(plan, count));
}

function toShare(plan: SharePlan, children: number): PlannedShare {
  const { parent, wish, task, settings } = plan;
  const { maxParallel, maxTotalTokens, maxDepth } = settings;
  const account = createAccount(parent.limits);
  const { family } = account;
  family.maxOpen = maxParallel;
  if (maxTotalTokens !== undefined && parent.depth === 0)
    family.limitAll({ tokens: maxTotalTokens });
  const { least: firstCall } = firstCost(plan, parent);
  const taken = { ...NOTHING, ...firstCall, tool_calls: children };
  account.charge(eachKind((kind) => Math.min(taken[kind], account.left[kind])));
  family.announce(CALL, children, firstCall);
  const ceiling = toChildCeiling(account.ceiling, wish, { task, maxDepth });
  const newcomer = { ...firstCost(plan, task), callKey: CALL, ceiling };
  const given: Limits[] = [];
  for (let at = 0; at < children; at++) {
    const child = family.tryAdmit(newcomer);
    if (!child) break;
    given.push(child.limits);
  }
  // If no sibling will return anything, a child begins with the least.
  const least = { ...newcomer, enough: newcomer.least };
  const alone = given.length === 0 ? family.tryAdmit(least)?.limits : undefined;
  const all = alone ? [alone] : given;
  return { children, at_once: all.length, limits: toLeast(all, ceiling) };
}

const CALL = "plan";

function firstCost(
  { specs, modelOf }: SharePlan,
  task: AgentTask,
): { readonly enough: Partial<Amount>; readonly least: Partial<Amount> } {
  const { costOf } = modelOf(task.model);
  // A limit in dollars on a model without a known price was refused before.
  const prices = { costOf: (usage: Usage) => costOf(usage) ?? 0 };
  return toUsualCost(task.limits, toFirstRequest(task, specs), prices);
}

/** The smallest amount of each kind; nothing if no child was given anything. */
function toLeast(given: readonly Limits[], ceiling: Limits): Limits {
  return mapKinds((kind) => {
    if (ceiling[kind] === null) return null;
    if (given.length === 0) return 0;
    return Math.min(...given.map((one) => one[kind] ?? Number.POSITIVE_INFINITY));
  });
}
