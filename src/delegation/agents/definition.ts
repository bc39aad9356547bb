/** An agent from a file or a program: its name, what it may use and spend, and its instructions. */

import type { LimitKind } from "../../agent/limits.ts";
import type { OutputMode } from "../../agent/output-mode.ts";
import type { JsonObject } from "../../base/json.ts";

export interface AgentDefinition {
  readonly name: string;
  /** One line, for the model that chooses. */
  readonly description: string;
  /** The path of its file. */
  readonly path: string;
  /** `vendor/model`; its parent's when left out. */
  readonly model: string | undefined;
  /** The server's base URL, which replaces the vendor's; only with `model`, whose key it gets. */
  readonly url?: string | undefined;
  /** The API to speak, which replaces the vendor's own; only with `model`. */
  readonly provider?: string | undefined;
  /** The environment variable that holds the key; only with `model`. */
  readonly apiKeyName?: string | undefined;
  /** Fields of the vendor's own for each of its model calls. */
  readonly options?: JsonObject | undefined;
  /** Names and globs; undefined for all of its parent's, an empty list for none. */
  readonly tools: readonly string[] | undefined;
  readonly budget: AgentBudget;
  /** The schema of the document that it takes in addition to its task, if programs may call it. */
  readonly inputSchema?: JsonObject | undefined;
  /**
   * `json_object`: it answers with any JSON object. With a schema, the object must fit that schema.
   */
  readonly outputMode?: OutputMode | undefined;
  /** The schema of the document that it must answer with. */
  readonly outputSchema: JsonObject | undefined;
  /** The schema's file, relative to the agent's file, if it has one of its own. */
  readonly schemaFile: string | undefined;
  /** Which programs may call it besides other agents; none when empty. */
  readonly expose?: readonly Exposed[] | undefined;
  readonly instructions: string;
}

/**
 * `mcp`: clients of `offshoot mcp serve`, and of a server's `/mcp`, may call it as a tool. `model`: clients of a server
 * may name it, as `agent/NAME`, where a model's name stands.
 */
export const EXPOSED = ["mcp", "model"] as const;
export type Exposed = (typeof EXPOSED)[number];

/** Who wrote the file. A project's file is used only when the user has trusted it. */
export type AgentScope = "user" | "project";

export type AgentBudget = { readonly [Kind in BudgetKind]?: number };
export type BudgetKind = LimitKind | "seconds";

/**
 * The description in a new file. It tells a model nothing, so an agent that still has it is
 * refused.
 */
export const UNEDITED_DESCRIPTION = "Says in one line when to call it and what comes back.";
/** The problem of an agent that still has that description. */
export const UNEDITED_PROBLEM =
  "`description` is still the template's. Say when to call the agent.";

export const AGENT_NAME = /^[a-z][a-z0-9_-]{0,63}$/;

interface BudgetRow {
  readonly min: number;
  readonly max: number;
  /** True if the value must be a whole number. */
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
