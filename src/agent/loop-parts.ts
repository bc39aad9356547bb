/** The parts that the loop needs, and what a client may ask of its model. */

import type { Clock } from "../base/clock.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { RunContext } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import type { Tool } from "../protocol/tools.ts";
import type { Usage } from "../protocol/usage.ts";
import type { Provider, ReasoningOptions } from "../providers/provider.ts";
import type { Gate } from "../tools/gate/gate.ts";
import type { Account } from "./account.ts";
import type { Background } from "./background.ts";
import type { Calls } from "./calls.ts";
import type { ContextKeeper } from "./context/context-keeper.ts";
import type { ReadInbox } from "./inbox.ts";
import type { RequestWishes } from "./model-request.ts";
import type { CheckOutput } from "./structured-output.ts";
import type { AgentTask } from "./task.ts";
import type { ToolParts } from "./tool-calls.ts";
import type { ModelAnswer } from "./turn.ts";

export interface LoopParts {
  readonly context: RunContext;
  readonly task: AgentTask;
  readonly provider: Provider;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly checkOutput: CheckOutput;
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
  readonly tellsCost?: boolean | undefined;
  /** The model's window; undefined if it is not known. */
  readonly contextTokens: number | undefined;
  readonly reasoning: ReasoningOptions;
  /** Fields that the settings add to each model request, for the record. */
  readonly own?: JsonObject | undefined;
  /** The budget of the run. */
  readonly account: Account;
  readonly spentBelow: ToolParts["spentBelow"];
  readonly findChildren?: ToolParts["findChildren"];
  /** Resolves when the children of all calls have ended, also of calls that wait no longer. Never rejects. */
  readonly untilClosed?: (() => Promise<void>) | undefined;
  /** Which calls the run makes itself. */
  readonly calls: Calls;
  /** Tools that the model's vendor runs, besides those of the gate. */
  readonly nativeTools?: readonly Tool[] | undefined;
  /** The earlier items of the run's session; empty for a run without a session. */
  readonly before?: readonly Item[] | undefined;
  /** The state at the start of the run, for the journal: a takeover has to find the same. */
  readonly opening?: Json | undefined;
  /** Additions to the task; undefined for a run that only has its task. */
  readonly wishes?: TaskAdditions | undefined;
  /** Keeps the conversation within bounds. */
  readonly keeper?: ContextKeeper | undefined;
  /** Replaces the inbox of the run, if it gets messages in another way. */
  readonly inbox?: ReadInbox | undefined;
  /** Background subagents; undefined if the run can have none. */
  readonly backgroundChildren?: Background | undefined;
}

/** Additions to a task: fields of each model request, items before its own, and a step before the first turn. */
export interface TaskAdditions extends RequestWishes {
  /** Settings to record in `run_start`. */
  readonly response: JsonObject;
  /** The conversation before the task's own items. */
  readonly before: readonly Item[];
  /**
   * Awaited after `run_start`: a run may have to wait for its turn in a queue, and to do things
   * before its first turn.
   */
  begin?(items: readonly Item[]): Promise<Begun>;
}

/** The work that was done before the first turn. */
export interface Begun {
  /** The conversation of the first turn. */
  readonly items: readonly Item[];
  /** Set if nothing is left to ask the model: what the work before it has cost. */
  readonly done?: Pick<ModelAnswer, "usage" | "cost_usd"> | undefined;
  /** True if the run ends because the client has to answer first. */
  readonly waits?: boolean | undefined;
}
