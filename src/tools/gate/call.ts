/** The types of a tool call on its way through the gate: the call, the parts of the gate, and the result. */

import type { Json, JsonObject } from "../../base/json.ts";
import type { Redact } from "../../base/redact.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { ToolDecision } from "../../protocol/run-events.ts";
import type { ProcessMark } from "../../protocol/tool-process.ts";
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
  /** Undefined without a user to ask: a call that needs approval is then refused at once. */
  readonly ask: AskAnywhere | undefined;
  /** How long `ask` waits for an answer; missing for as long as the run lasts. */
  readonly waitMs?: number | undefined;
  /** The subagent that makes the calls, for questions; missing for the run that a user started. */
  readonly asker?: Asker | undefined;
  /** The standing allowances of the whole tree of runs; missing if the tree is only this run. */
  readonly treeAlways?: Always | undefined;
  readonly limits: GateLimits;
  /** Keeps the values of key variables out of tool results. */
  readonly redact: Redact;
  /** Keeps the states of files before calls changed them; missing without undo. */
  readonly changes?: Changes | undefined;
  /** The user's hooks around calls, which can deny and never grant. Closed with the gate. */
  readonly hooks?: Hooks | undefined;
  /** The number of our MCP servers above the run; none if missing. */
  readonly mcpDepth?: number | undefined;
}

export interface GateLimits {
  readonly timeoutMs: number;
  readonly outputChars: number;
  readonly parallelCalls: number;
}

export interface CallContext {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** Takes the call from the budget. Awaited. Fails with `budget_exceeded` if no calls are left. */
  take(): unknown;
  /** Called with events of a tool while it works; see `ToolContext.tell`. */
  tell?(event: JsonObject): Promise<unknown>;
  /** Called with each program that the call is about to start, which waits for it; see `Command.onStart`. */
  starting?(process: ProcessMark): Promise<unknown>;
  /** Called with one line about a problem around the call, such as a failed hook. */
  notice?(message: string): Promise<unknown>;
  /** Called with each change of a file, before and after it. Awaited. If missing, nothing is kept. */
  keepFiles?: KeepEvents | undefined;
  /**
   * Called before the user is asked, so that others see that the call waits; without secrets. Returns the
   * question's name; if missing, the call's own key is used.
   */
  asked?(question: Omit<Question, "id">): Promise<string>;
  /** Called before the call runs, and again if a guard stopped it. Awaited. */
  decided(decision: Decision): Promise<unknown>;
}

export type Decision = Omit<ToolDecision, "type" | "call_id" | "name" | "at_ms">;

export interface ToolResult {
  readonly output: string | readonly ContentPart[];
  /** True if the text describes an error. */
  readonly failed: boolean;
  /** True if the tool itself failed; false if the call was wrong or not allowed. */
  readonly thrown: boolean;
  /** Data for showing the call to people (`ToolOutput.details`); models do not get it. */
  readonly details?: Json | undefined;
}
