/** A run as the one that delegates: what its children get, and who is told of them. */

import type { Account } from "../agent/account.ts";
import type { Amount } from "../agent/limits.ts";
import type { AgentTask } from "../agent/task.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import type { FunctionTool } from "../protocol/tools.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentDefinition } from "./agents/definition.ts";
import type { BackgroundDoor } from "./background-door.ts";
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
  /** Whether its runs are in a record that can be read later. */
  readonly isRecorded?: boolean | undefined;
  /** The run's tools but for those that delegate. */
  readonly tools: readonly Tool[];
  /** Those that a call may name. */
  readonly agents: readonly AgentDefinition[];
  readonly settings: DelegationSettings;
  readonly executors: Readonly<Record<ExecutorName, Executor>>;
  /** Told of what happens to children, for logs and traces. */
  observe(event: SubagentEvent): void;
  /** Appends to the run's own log. */
  emit(events: readonly RunEvent[]): Promise<unknown>;
  /** Writes down which children wait to be started. */
  readonly queue: QueueLog;
  now(): number;
  /** What the model is told of all tools that a child may have. */
  readonly specs: readonly FunctionTool[];
  /** What is known of a model, for what its calls cost. */
  modelOf(ref: string): PlannedModel;
  /** What the record has of its children, where it is played again. */
  readonly replayed?: Pick<ReplayedChildren, "refusal" | "couldAsk"> | undefined;
  /** Rejects what a child would fail at: its model, its key, its schema. Starts and sends nothing. */
  check(task: AgentTask): Promise<void>;
  /** Why a call that wishes for these is asked about; undefined where it is not. */
  asksAbout(wishes: readonly ChildWish[]): Promise<string | undefined>;
  /** Keeps what children say, where that is wanted. */
  readonly conversations?: Pick<Conversations, "open"> | undefined;
  /** Its children that no call waits for; undefined where every call waits. */
  readonly background?: BackgroundDoor | undefined;
  /** What the children of a call have spent, by the call's idempotency key; read by the loop. */
  readonly spentBelow: Map<string, Amount>;
}
