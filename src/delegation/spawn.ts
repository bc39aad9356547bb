/**
 * Runs one child: what bounds it is decided, its budget is set aside, its start is written down, and
 * only then does it begin. What it did not spend comes back, and its ending is written down too.
 */

import type { ChildAccount } from "../agent/account.ts";
import { addAmounts } from "../agent/limits.ts";
import { Failure, toFailure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { ChildOrder, ChildReport, ChildWish } from "./child.ts";
import { toChildLimits, toChildTask } from "./child-task.ts";
import type { DelegationNode } from "./node.ts";
import type { ExecutorName } from "./settings.ts";

/** Of any child, whatever the settings say. */
const MAX_TURNS = 50;

export interface Spawning {
  /** The call's idempotency key. */
  readonly callKey: string;
  /** Its place below the parent. */
  readonly key: string;
  /** How many children the same call starts, this one included. */
  readonly siblings: number;
  readonly executor: ExecutorName;
  readonly signal: AbortSignal;
}

/**
 * Rejects with `Failure` for what is refused before anything is started: depth, tools, budget. A child
 * that was started is told of by its report, however it ended.
 */
export async function spawn(
  node: DelegationNode,
  wish: ChildWish,
  spawning: Spawning,
): Promise<ChildReport> {
  checkDepth(node, wish);
  const { task: parent, settings, account } = node;
  const tools = wish.tools ?? parent.tools;
  const maxTurns = Math.min(wish.maxTurns ?? settings.defaultMaxTurns, MAX_TURNS);
  const place = account.hold({ children: 1 });
  let money: ChildAccount;
  try {
    money = account.open(toChildLimits(account, wish.limits ?? {}, spawning.siblings));
  } catch (thrown) {
    place.release();
    throw thrown;
  }
  const { limits } = money;
  const task = toChildTask(parent, wish, { tools, maxTurns, limits });
  try {
    await node.check(task);
  } catch (thrown) {
    money.close();
    place.release();
    throw thrown;
  }
  const timeoutMs = Math.min(settings.childTimeoutMs, wish.timeoutMs ?? settings.childTimeoutMs);
  const { label, depth } = { label: wish.label, depth: task.depth };
  const child_id = `${node.id}/${spawning.key}`;
  const requested = toRequested(wish);
  const effective: JsonObject = {
    model: task.model,
    tools,
    max_turns: maxTurns,
    limits: { ...limits },
    timeout_ms: timeoutMs,
  };
  node.observe({ event: "spawn", label, depth, max_turns: maxTurns, allowed_tools: tools });
  await node.emit([
    {
      type: "child_start",
      call_key: spawning.callKey,
      ...{ child_id, label, depth, requested, effective },
      at_ms: node.now(),
    },
  ]);
  try {
    const order = { key: spawning.key, task, account: money, timeoutMs };
    return await runChild(node, order, spawning);
  } finally {
    place.settle({ children: 1 });
    money.close();
    addSpent(node, spawning.callKey, money);
  }
}

function checkDepth({ task, settings, observe }: DelegationNode, { label }: ChildWish): void {
  const { maxDepth: max_depth } = settings;
  if (task.depth < max_depth) return;
  observe({ event: "depth_limit", label, current_depth: task.depth, max_depth });
  const message = `Maximum subagent recursion depth (${max_depth}) exceeded. Current depth: ${task.depth}. Cannot spawn nested subagent.`;
  throw new Failure("forbidden", message);
}

/** As it was asked for; what was not asked for is not there. */
function toRequested({ agent, model, tools, maxTurns, limits, timeoutMs }: ChildWish): JsonObject {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(maxTurns === undefined ? {} : { max_turns: maxTurns }),
    ...(limits === undefined ? {} : { limits: { ...limits } }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  };
}

async function runChild(
  node: DelegationNode,
  order: ChildOrder,
  { executor, signal }: Spawning,
): Promise<ChildReport> {
  const startedAtMs = node.now();
  const tellEnd = node.conversations?.open(signal);
  let report: ChildReport | undefined;
  let failure: Failure | undefined;
  try {
    report = await node.executors[executor].run(order, signal);
    await finish(node, order, report);
    return report;
  } catch (thrown) {
    failure = toFailure(thrown);
    throw thrown;
  } finally {
    const { task, key } = order;
    const [id, endedAtMs] = [`${node.id}/${key}`, node.now()];
    const child = { id, parentId: node.id, task, startedAtMs, endedAtMs, report, failure };
    await tellEnd?.(child);
  }
}

async function finish(
  node: DelegationNode,
  { task, key }: ChildOrder,
  report: ChildReport,
): Promise<void> {
  const { id: child_id, ending, message, turns, usage, costUsd: cost_usd } = report;
  const label = task.label ?? key;
  const at_ms = node.now();
  const flag = hasDoneNothing(task, report) ? { did_nothing: true } : {};
  await node.emit([
    { type: "child_end", child_id, label, ending, message, turns, usage, cost_usd, ...flag, at_ms },
  ]);
}

/** It had tools and says that it is done, and has not touched one: its answer is made of nothing. */
function hasDoneNothing({ tools }: ChildOrder["task"], report: ChildReport): boolean {
  const { ending, toolCalls, turns } = report;
  return ending === "completed" && tools.length > 0 && toolCalls === 0 && turns >= 1;
}

/** For the journal: a replay of the call charges what its children have spent. */
function addSpent({ spentBelow }: DelegationNode, callKey: string, { spent }: ChildAccount): void {
  const before = spentBelow.get(callKey);
  const one = { ...spent, children: spent.children + 1 };
  spentBelow.set(callKey, before ? addAmounts(before, one) : one);
}
