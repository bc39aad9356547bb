/** An agent that somebody wrote down: who it is, what it may use and spend, and what it is told. */

import type { LimitKind } from "../../agent/limits.ts";
import type { OutputMode } from "../../agent/output-mode.ts";
import type { JsonObject } from "../../base/json.ts";

export interface AgentDefinition {
  readonly name: string;
  /** One line, for the model that chooses. */
  readonly description: string;
  /** The file it stands in. */
  readonly path: string;
  /** `vendor/model`; its parent's when left out. */
  readonly model: string | undefined;
  /** The server's base URL, in place of the vendor's; only beside `model`, whose key it gets. */
  readonly url?: string | undefined;
  /** The API to speak, in place of the vendor's own; only beside `model`. */
  readonly provider?: string | undefined;
  /** The environment variable that holds the key; only beside `model`. */
  readonly apiKeyName?: string | undefined;
  /** Fields of the vendor's own for each of its model calls. */
  readonly options?: JsonObject | undefined;
  /** Names and globs; undefined for all of its parent's, an empty list for none. */
  readonly tools: readonly string[] | undefined;
  readonly budget: AgentBudget;
  /** The document that it takes beside its task, where it is offered to programs. */
  readonly inputSchema?: JsonObject | undefined;
  /** `json_object`: it answers with a JSON object, of any form. With a schema it fits that one. */
  readonly outputMode?: OutputMode | undefined;
  /** The document it must answer with. */
  readonly outputSchema: JsonObject | undefined;
  /** Where the schema stands, relative to the file, when it is one of its own. */
  readonly schemaFile: string | undefined;
  /** Where else it is offered than to other agents; nowhere when empty. */
  readonly expose?: readonly Exposed[] | undefined;
  readonly instructions: string;
}

/** `mcp`: clients of `offshoot mcp serve`, and of a server's `/mcp`, may call it as a tool. */
export const EXPOSED = ["mcp"] as const;
export type Exposed = (typeof EXPOSED)[number];

/** Whose file it is. What a project brings counts only when the user has trusted it. */
export type AgentScope = "user" | "project";

export type AgentBudget = { readonly [Kind in BudgetKind]?: number };
export type BudgetKind = LimitKind | "seconds";

/** Stands in a new file in place of a description. It tells a model nothing, so it is refused. */
export const UNEDITED_DESCRIPTION = "Says in one line when to call it and what comes back.";
/** What is wrong with an agent that still has it. */
export const UNEDITED_PROBLEM =
  "`description` is still the template's. Say when to call the agent.";

export const AGENT_NAME = /^[a-z][a-z0-9_-]{0,63}$/;

interface BudgetRow {
  readonly min: number;
  readonly max: number;
  /** Whether parts of one count. */
  readonly isWhole: boolean;
  readonly summary: string;
}

export const BUDGET: Readonly<Record<BudgetKind, BudgetRow>> = {
  turns: { min: 1, max: 50, isWhole: true, summary: "model calls" },
  tokens: { min: 1, max: Number.MAX_SAFE_INTEGER, isWhole: true, summary: "tokens" },
  usd: { min: 0, max: 1_000_000, isWhole: false, summary: "US dollars" },
  seconds: { min: 1, max: 604_800, isWhole: false, summary: "seconds" },
  tool_calls: { min: 0, max: Number.MAX_SAFE_INTEGER, isWhole: true, summary: "tool calls" },
  children: { min: 0, max: Number.MAX_SAFE_INTEGER, isWhole: true, summary: "subagents below it" },
};
