/** A run that delegates, made from its context and the settings for all runs. */

import type { Account } from "../agent/account.ts";
import type { AgentTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { AgentDefinition } from "../delegation/agents/definition.ts";
import type { BackgroundParts } from "../delegation/background.ts";
import { BackgroundDoor, type WatchingNode } from "../delegation/background-door.ts";
import type { Executor } from "../delegation/child.ts";
import { listDelegatingSpecs } from "../delegation/delegating-tools.ts";
import {
  createInProcessExecutor,
  type OpenAccounts,
  type PlaceOf,
} from "../delegation/executors/in-process.ts";
import { createTotalTime } from "../delegation/executors/total-time.ts";
import type { DelegationNode } from "../delegation/node.ts";
import { createGivenBudgets } from "../delegation/placed/given-budgets.ts";
import type { PlannedModel } from "../delegation/plan-cost.ts";
import type { OpenQuestions } from "../delegation/questions.ts";
import { createQueueLog } from "../delegation/queue-log.ts";
import type { ReplayedChildren } from "../delegation/replay/replayed-children.ts";
import type { DelegationSettings } from "../delegation/settings.ts";
import type { SubagentEvent } from "../delegation/subagent-events.ts";
import type { RunContext } from "../engine/engine.ts";
import type { Tool } from "../tools/tool.ts";
import type { ProcessChildren } from "./child-processes.ts";

export interface NodeParts {
  readonly context: RunContext;
  readonly task: AgentTask;
  readonly account: Account;
  readonly tools: readonly Tool[];
  readonly body: string;
  readonly accounts: OpenAccounts;
  /** The queue for children that may run anywhere; without it none may. */
  readonly placeOf?: PlaceOf | undefined;
  readonly settings: DelegationSettings;
  readonly clock: Clock;
  readonly observe: (event: SubagentEvent) => void;
  readonly processChildren: ProcessChildren | undefined;
  readonly agents: readonly AgentDefinition[];
  readonly check: DelegationNode["check"];
  readonly conversations: DelegationNode["conversations"];
  readonly isRecorded?: boolean | undefined;
  /** The open questions of children; left out if every call waits for its children. */
  readonly questions?: OpenQuestions | undefined;
  /** In a replay: the recorded news of background children. */
  readonly recorded?: BackgroundParts["recorded"];
  /** In a replay: the recorded children of the run. */
  readonly replayed?: ReplayedChildren | undefined;
  /** The facts of a model that decide what it may cost; throws for an unknown one. */
  readonly modelOf: (ref: string) => PlannedModel;
}

export function openNode(parts: NodeParts): WatchingNode {
  const { context, task, account, tools, settings, clock, observe, agents, check, conversations } =
    parts;
  const node: DelegationNode = {
    id: context.id,
    path: context.path,
    isRecorded: parts.isRecorded,
    task,
    account,
    tools,
    settings,
    observe,
    agents,
    check,
    conversations,
    executors: openExecutors(parts),
    replayed: parts.replayed,
    specs: [...tools.map(({ spec }) => spec), ...listDelegatingSpecs({ agents, settings })],
    modelOf: parts.modelOf,
    emit: (events) => context.tell(events),
    queue: createQueueLog({
      emit: (events) => context.tell(events),
      now: () => clock.now(),
    }),
    now: () => clock.now(),
    async asksAbout(wishes) {
      const { findApprovalReason } = await import("../delegation/plan.ts");
      const { planThresholdUsd: thresholdUsd } = settings;
      return findApprovalReason({ account, task }, wishes, {
        thresholdUsd,
        modelOf: parts.modelOf,
      });
    },
    open: new Set(),
    spentBelow: new Map(),
  };
  const { questions, recorded } = parts;
  const background = questions && new BackgroundDoor({ context, node, questions, clock, recorded });
  return { ...node, background };
}

/** Where children run, and the limits on their number, time and budget. */
function openExecutors(parts: NodeParts): DelegationNode["executors"] {
  const { context, task, account, settings, clock, replayed } = parts;
  const inProcess = createInProcessExecutor(context, parts.body, parts.accounts);
  if (replayed) {
    const played = replayed.wrapExecutor(inProcess);
    return { in_process: played, child_process: played, anywhere: played };
  }
  const processes = parts.processChildren?.(context) ?? NO_PROCESSES;
  account.family.maxOpen = settings.maxParallel;
  account.family.maxFixed = processes.places ?? Number.POSITIVE_INFINITY;
  const { maxTotalTokens, maxTotalTimeMs: totalMs } = settings;
  // What a run below has is a part of it already.
  const isRoot = task.depth === 0;
  if (isRoot && maxTotalTokens !== undefined) account.family.limitAll({ tokens: maxTotalTokens });
  const inTime =
    isRoot && totalMs !== undefined
      ? createTotalTime({ totalMs, now: () => clock.now(), parentId: context.id })
      : (executor: Executor) => executor;
  const anywhere = parts.placeOf
    ? createInProcessExecutor(context, parts.body, parts.accounts, {
        placeOf: parts.placeOf,
        budgets: createGivenBudgets(context, () => clock.now()),
      })
    : NOWHERE;
  return {
    in_process: inTime(inProcess),
    child_process: inTime(processes),
    anywhere: inTime(anywhere),
  };
}

/** For a run that belongs to the folder and the settings of one process. */
const NOWHERE: Executor = {
  run() {
    const message =
      "Only servers leave subagents to other processes: set `agent.subagent.executor` to `in_process` or `child_process`.";
    return Promise.reject(new Failure("forbidden", message));
  },
};

/** For a program that embeds the runtime without this setting. */
const NO_PROCESSES: Executor = {
  run() {
    const message = "This runtime starts no child processes: it was given no `childProcess`.";
    return Promise.reject(new Failure("forbidden", message));
  },
};
