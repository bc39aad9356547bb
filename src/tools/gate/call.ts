/** A tool call on its way through the gate: what it is made of, what the gate is made of, what comes out. */

import type { Json, JsonObject } from "../../base/json.ts";
import type { Redact } from "../../base/redact.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { ProcessMark, ToolDecision } from "../../protocol/run-events.ts";
import type { KeepEvents } from "../changes/change-keeper.ts";
import type { Changes } from "../changes/changes.ts";
import type { Hooks } from "../hooks/run-hooks.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Tool } from "../tool.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Always } from "./always.ts";
import type { AskAnywhere, Asker, Question } from "./ask.ts";
import type { Policy } from "./decide.ts";
import type { Grant } from "./grant.ts";

export interface GateParts {
  readonly tools: readonly Tool[];
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly grant: Grant;
  readonly policy: Policy;
  /** Undefined where there is nobody to ask: what would be asked about is refused at once. */
  readonly ask: AskAnywhere | undefined;
  /** How long `ask` waits for an answer; left out where that is as long as the run. */
  readonly waitMs?: number | undefined;
  /** The subagent whose calls these are, for questions; left out for the run that a person started. */
  readonly asker?: Asker | undefined;
  /** What is always let through in the whole tree of runs; left out where this run is all of it. */
  readonly treeAlways?: Always | undefined;
  readonly limits: GateLimits;
  /** Keeps the values of key variables out of what tools return. */
  readonly redact: Redact;
  /** Keeps how files were before calls changed them; left out where nobody undoes it. */
  readonly changes?: Changes | undefined;
  /** Programs of the user's around calls, which can deny and never grant. Closed with the gate. */
  readonly hooks?: Hooks | undefined;
  /** How many MCP servers of ours stand above the run; none when left out. */
  readonly mcpDepth?: number | undefined;
}

export interface GateLimits {
  readonly timeoutMs: number;
  readonly outputChars: number;
  readonly parallelCalls: number;
}

export interface ToolCall {
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}

export interface CallContext {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** Takes the call from the budget, and is waited for; fails with `budget_exceeded` when there is none left. */
  take(): unknown;
  /** Told what a tool has to say while it works; see `ToolContext.tell`. */
  tell?(event: JsonObject): Promise<unknown>;
  /** Told of each program that the call is about to start, which waits for it; see `Command.onStart`. */
  starting?(process: ProcessMark): Promise<unknown>;
  /** Told in one line what is wrong around the call: with a hook. */
  notice?(message: string): Promise<unknown>;
  /** Told what the call does to files, each before and after it is done. Awaited; left out, nothing is kept. */
  keepFiles?: KeepEvents | undefined;
  /**
   * Called before a person is asked, so that others see that the call waits; without secrets. Returns the
   * question's name; the call's own key stands for it when left out.
   */
  asked?(question: Omit<Question, "id">): Promise<string>;
  /** Called before the call runs, and again where a guard stopped it. Awaited. */
  decided(decision: Decision): Promise<unknown>;
}

export type Decision = Omit<ToolDecision, "type" | "call_id" | "name" | "at_ms">;

export interface ToolResult {
  readonly output: string | readonly ContentPart[];
  /** Whether the text says what was wrong. */
  readonly failed: boolean;
  /** Whether the tool could not do it, rather than saying what was wrong with the call. */
  readonly thrown: boolean;
  /** What the tool keeps for whoever shows the call (`ToolOutput.details`); models do not see it. */
  readonly details?: Json | undefined;
}
