/** The stages of a child: the wish, the order, the report. */

import type { ChildAccount } from "../agent/account.ts";
import type { Amount, Limits } from "../agent/limits.ts";
import type { AgentTask } from "../agent/task.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Item } from "../protocol/items.ts";
import type { Ending, RunError } from "../protocol/run-events.ts";
import type { Usage } from "../protocol/usage.ts";

/** The wishes of a tool call for a child. It may ask for less than its parent has, never for more. */
export interface ChildWish {
  /** The model's name for it; only its place is unique. */
  readonly label: string;
  readonly prompt: string;
  readonly instructions: string | null;
  /** How it is asked to report: null for no report, undefined for the default. */
  readonly summaryPrompt: string | null | undefined;
  /** Tool names; undefined for all of its parent's. */
  readonly tools: readonly string[] | undefined;
  readonly maxTurns: number | undefined;
  /** `vendor/model`; its parent's when left out. */
  readonly model?: string | undefined;
  /** Where that model is asked and with which key, if its agent's file says so. */
  readonly address?: ChildAddress | undefined;
  /** True if it may ask its parent although its tools are named. */
  readonly canAsk?: boolean | undefined;
  /** The address of the finished child that is asked again. */
  readonly sameAddress?:
    | Pick<AgentTask, "provider" | "url" | "api_key_name" | "deployments" | "fell_back">
    | undefined;
  /** Fields of the vendor's own; they override its parent's if it keeps its parent's model. */
  readonly options?: JsonObject | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** The schema of the document it must answer with. */
  readonly schema?: Json | undefined;
  /** True if it answers with any JSON object. */
  readonly isJson?: boolean | undefined;
  /** The name of its agent, for the record. */
  readonly agent?: string | undefined;
  /** How long it may run, if that is less than every child may. */
  readonly timeoutMs?: number | undefined;
  /** True if its call does not wait for its end. */
  readonly isBackground?: boolean | undefined;
  /** The id of the child that it continues, for the record. */
  readonly continues?: string | undefined;
  /** The conversation it begins with; replaces the prompt. */
  readonly items?: readonly Item[] | undefined;
  /**
   * What a request of the Responses API asks beyond a task, for a child that answers for its parent's client: its
   * tools are then the request's, and not names.
   */
  readonly response?: JsonObject | undefined;
}

export interface ChildAddress {
  readonly url: string | undefined;
  readonly provider: string | undefined;
  readonly apiKeyName: string | undefined;
}

/** A child that will run, with everything about it decided. */
export interface ChildOrder {
  /** The child's place below its parent, the same when it is ordered again: `research-2.0`. */
  readonly key: string;
  /** The call that started it and waits for it. */
  readonly callKey: string;
  readonly task: AgentTask;
  readonly account: ChildAccount;
  readonly timeoutMs: number;
  /** Gives its place to another child; the second call does nothing. Undefined if it has none yet, or needs none. */
  readonly leave?: (() => void) | undefined;
  /** Called when the child is written down: from then on it is found again. */
  readonly onStart?: (() => void) | undefined;
}

/** How a child ended. There is one for each child that was started, however it ended. */
export interface ChildReport {
  readonly id: string;
  readonly ending: Ending;
  /** Why it ended so; empty when it completed. */
  readonly message: string;
  readonly error: RunError | null;
  /** True if it ended because the client has to answer its calls. */
  readonly waits?: boolean | undefined;
  /** The child's answer to its parent. After a limit this is its work so far. */
  readonly text: string;
  readonly json: Json | undefined;
  readonly turns: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** Spent by it and by everything below it. */
  readonly spent: Amount;
}

/** Limits how many work at once. */
export interface ChildPlaces {
  /** Resolves when there is a place, with a function that returns it; `onWait` is called if there is none yet. */
  enter(signal: AbortSignal, onWait?: () => void): Promise<() => void>;
}

/** Runs children: in this process, or each in its own. */
export interface Executor extends Partial<ChildPlaces> {
  /** How many it runs at once; undefined for any number. */
  readonly places?: number | undefined;
  /** Runs the child to its ending, whichever it is. Rejects only when the parent is cancelled. */
  run(order: ChildOrder, signal: AbortSignal): Promise<ChildReport>;
}
