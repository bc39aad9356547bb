/** A run as the one that delegates, made of its context and of what holds for all runs. */

import type { Account } from "../agent/account.ts";
import type { AgentTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { AgentDefinition } from "../delegation/agents/definition.ts";
import type { BackgroundParts } from "../delegation/background.ts";
import { BackgroundDoor } from "../delegation/background-door.ts";
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
  /** Where children wait that may run anywhere; without it none may. */
  readonly placeOf?: PlaceOf | undefined;
  readonly settings: DelegationSettings;
  readonly clock: Clock;
  readonly observe: (event: SubagentEvent) => void;
  readonly processChildren: ProcessChildren | undefined;
  readonly agents: readonly AgentDefinition[];
  readonly check: DelegationNode["check"];
  readonly conversations: DelegationNode["conversations"];
  readonly isRecorded?: boolean | undefined;
  /** What children ask; left out where every call waits for its children. */
  readonly questions?: OpenQuestions | undefined;
  /** What a run that is played again was told of its background children. */
  readonly recorded?: BackgroundParts["recorded"];
  /** Its children, where it is played again. */
  readonly replayed?: ReplayedChildren | undefined;
  /** What is known of a model, for what it may cost; throws for one that is none. */
  readonly modelOf: (ref: string) => PlannedModel;
}

export function openNode(parts: NodeParts): DelegationNode {
  const { context, task, account, tools, settings, clock, observe, agents, check, conversations } =
    parts;
  const node: DelegationNode = {
    id: context.id,
    path: context.path,
    isRecorded: parts.isRecorded,
    ...{ task, account, tools, settings, observe, agents, check, conversations },
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
        ...{ thresholdUsd, modelOf: parts.modelOf },
      });
    },
    spentBelow: new Map(),
    get background() {
      return background;
    },
  };
  const { questions, recorded } = parts;
  const background = questions && new BackgroundDoor({ context, node, questions, clock, recorded });
  return node;
}

/** Where children run, and how many at once, for how long and with how much in all. */
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

/** Of a run that belongs to the folder and the settings of one process. */
const NOWHERE: Executor = {
  run() {
    const message =
      "Only servers leave subagents to other processes: set `agent.subagent.executor` to `in_process` or `child_process`.";
    return Promise.reject(new Failure("forbidden", message));
  },
};

/** Of a program that embeds the runtime and did not say how. */
const NO_PROCESSES: Executor = {
  run() {
    const message = "This runtime starts no child processes: it was given no `childProcess`.";
    return Promise.reject(new Failure("forbidden", message));
  },
};
