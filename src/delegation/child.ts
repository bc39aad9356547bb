/** A child on its way: what was wished for, what is ordered, what comes back. */

import type { ChildAccount } from "../agent/account.ts";
import type { Amount, Limits } from "../agent/limits.ts";
import type { AgentTask } from "../agent/task.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Item } from "../protocol/items.ts";
import type { Ending, RunError } from "../protocol/run-events.ts";
import type { Usage } from "../protocol/usage.ts";

/** What a tool call asks for. It may ask for less than its parent has, never for more. */
export interface ChildWish {
  /** What the model calls it; unique only by its place. */
  readonly label: string;
  readonly prompt: string;
  readonly instructions: string | null;
  /** How it is to report: null for not at all, undefined for as usual. */
  readonly summaryPrompt: string | null | undefined;
  /** Names; undefined for all of its parent's. */
  readonly tools: readonly string[] | undefined;
  readonly maxTurns: number | undefined;
  /** `vendor/model`; its parent's when left out. */
  readonly model?: string | undefined;
  /** Where that model is asked and with which key, where its agent's file says so. */
  readonly address?: ChildAddress | undefined;
  /** Whether it may ask its parent although its tools are named. */
  readonly canAsk?: boolean | undefined;
  /** Where a finished child was asked that is asked again. */
  readonly sameAddress?:
    | Pick<AgentTask, "provider" | "url" | "api_key_name" | "deployments" | "fell_back">
    | undefined;
  /** Fields of the vendor's own, over those of its parent where it keeps its parent's model. */
  readonly options?: JsonObject | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** The document it must answer with. */
  readonly schema?: Json | undefined;
  /** Whether it answers with a JSON object, of any form. */
  readonly isJson?: boolean | undefined;
  /** The name of the agent that does it, for the record. */
  readonly agent?: string | undefined;
  /** How long it may run, where that is less than every child may. */
  readonly timeoutMs?: number | undefined;
  /** Whether its call does not wait for its end. */
  readonly isBackground?: boolean | undefined;
  /** The id of the child that it goes on from, for the record. */
  readonly continues?: string | undefined;
  /** The conversation it begins with, in place of the prompt. */
  readonly items?: readonly Item[] | undefined;
  /**
   * What a request of the Responses API asks beyond a task, for a child that answers for its parent's
   * client: its tools are the request's then, and no names.
   */
  readonly response?: JsonObject | undefined;
}

export interface ChildAddress {
  readonly url: string | undefined;
  readonly provider: string | undefined;
  readonly apiKeyName: string | undefined;
}

/** A child that will run, everything about it decided. */
export interface ChildOrder {
  /** Its place below its parent, the same when it is asked for again: `research-2.0`. */
  readonly key: string;
  /** The call that asked for it, which waits for it. */
  readonly callKey: string;
  readonly task: AgentTask;
  readonly account: ChildAccount;
  readonly timeoutMs: number;
  /** Gives its place to another; the second time does nothing. Undefined where it has none yet, or needs none. */
  readonly leave?: (() => void) | undefined;
  /** Called when the child is written down: from then on it is found again. */
  readonly onStart?: (() => void) | undefined;
}

/** How a child ended. One for each that was started, whatever became of it. */
export interface ChildReport {
  readonly id: string;
  readonly ending: Ending;
  /** Why it ended so; empty when it completed. */
  readonly message: string;
  readonly error: RunError | null;
  /** Whether it ended because somebody else has to answer its calls. */
  readonly waits?: boolean | undefined;
  /** What it answers its parent. After a limit it is what there is. */
  readonly text: string;
  readonly json: Json | undefined;
  readonly turns: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** With everything below it. */
  readonly spent: Amount;
}

/** Lets so many work at once. */
export interface Places {
  /** Resolves when there is a place, with what gives it back; `onWait` is called where there is none yet. */
  enter(signal: AbortSignal, onWait?: () => void): Promise<() => void>;
}

/** Where children run. One contract, in this process or in one of its own. */
export interface Executor extends Partial<Places> {
  /** How many it runs at once; undefined for any number. */
  readonly places?: number | undefined;
  /** Runs the child to its ending, whichever it is. Rejects only when the parent is cancelled. */
  run(order: ChildOrder, signal: AbortSignal): Promise<ChildReport>;
}
