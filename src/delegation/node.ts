/** A run that delegates: what its children get, and where their events are reported. */

import type { Account } from "../agent/account.ts";
import type { Amount } from "../agent/limits.ts";
import type { AgentTask } from "../agent/task.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import type { FunctionTool } from "../protocol/tools.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentDefinition } from "./agents/definition.ts";
import type { ChildWish, Executor } from "./child.ts";
import type { Conversations } from "./conversations.ts";
import type { PlannedModel } from "./plan-cost.ts";
import type { QueueLog } from "./queue-log.ts";
import type { ReplayedChildren } from "./replay/replayed-children.ts";
import type { DelegationSettings, ExecutorName } from "./settings.ts";
import type { SubagentEvent } from "./subagent-events.ts";

export interface DelegationNode {
  readonly id: string;
  readonly path: string;
  readonly task: AgentTask;
  readonly account: Account;
  /** True if its runs are in a record that can be read later. */
  readonly isRecorded?: boolean | undefined;
  /** The run's tools, without those that delegate. */
  readonly tools: readonly Tool[];
  /** The agents that a call may name. */
  readonly agents: readonly AgentDefinition[];
  readonly settings: DelegationSettings;
  readonly executors: Readonly<Record<ExecutorName, Executor>>;
  /** Called with each event of children, for logs and traces. */
  observe(event: SubagentEvent): void;
  /** Appends to the run's own log. */
  emit(events: readonly RunEvent[]): Promise<unknown>;
  /** Writes down which children wait to be started. */
  readonly queue: QueueLog;
  now(): number;
  /** The descriptions of all tools that a child may have, as models read them. */
  readonly specs: readonly FunctionTool[];
  /** The facts of a model that decide what its calls cost. */
  modelOf(ref: string): PlannedModel;
  /** The recorded children of the run, in a replay. */
  readonly replayed?: Pick<ReplayedChildren, "refusal" | "couldAsk"> | undefined;
  /** Rejects what a child would fail at: its model, its key, its schema. Starts and sends nothing. */
  check(task: AgentTask): Promise<void>;
  /** Why a call with these wishes needs approval; undefined if it does not. */
  asksAbout(wishes: readonly ChildWish[]): Promise<string | undefined>;
  /** Stores what children say, if the settings ask for that. */
  readonly conversations?: Pick<Conversations, "open"> | undefined;
  /** Children that calls have begun and that have not ended, also where their calls wait no longer. */
  readonly open: Set<Promise<void>>;
  /** The spending of a call's children, by the call's idempotency key; read by the loop. */
  readonly spentBelow: Map<string, Amount>;
}
