/**
 * The task of a run, as JSON: it is written down before the run starts, so that another process can take it
 * up. Keys are named by their variables; the task has no secrets.
 */

import { Failure } from "../base/failure.ts";
import { asJsonObject, type Json, type JsonObject } from "../base/json.ts";
import type { Item } from "../protocol/items.ts";
import type { ToldPart } from "../protocol/told-part.ts";
import type { ToolChoice } from "../protocol/tools.ts";
import type { OutputFormat } from "../providers/provider.ts";
import type { Approval } from "../tools/gate/decide.ts";
import { type Grant, WHOLE_GRANT } from "../tools/gate/grant.ts";
import type { SandboxLevel } from "../tools/sandbox/sandbox.ts";
import { type Limits, NO_LIMITS } from "./limits.ts";

/** The default limit on the length of the loop: one turn is one model call. */
export const DEFAULT_MAX_TURNS = 50;

/** One of several deployments that a model's name stands for. */
export interface Deployment extends Pick<AgentTask, "model" | "provider" | "url" | "api_key_name"> {
  /** The deployment's share of the calls, among those that are not fallbacks. */
  readonly weight: number;
  /** True if it is asked only when none of the others answers. */
  readonly fallback: boolean;
}

/** A rule as a person wrote it. */
export interface GivenRule {
  readonly verdict: string;
  readonly text: string;
  /** The flag that the rule was given with. */
  readonly source: string;
}

/**
 * The behaviour when a conversation has become too long: the run continues with a shorter one (`auto`), or ends
 * (`off`).
 */
export const COMPACT_MODES = ["auto", "off"] as const;
export type CompactMode = (typeof COMPACT_MODES)[number];

/** The place of a run in its session, which is a conversation of the API. */
export interface SessionPlace {
  readonly tenant: string;
  readonly id: string;
  /**
   * The position of the last item before the run on the shelf, 0 for none: later items are not part of the run's past.
   */
  readonly position: number;
}

/** How much a model that thinks may be asked to think, weakest first. */
export const THINKING_EFFORTS = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ThinkingEffort = (typeof THINKING_EFFORTS)[number];

export interface AgentTask {
  /** `vendor/model`. */
  readonly model: string;
  /** Why this model was chosen: a flag, a key that was found, or because nothing else was found. */
  readonly model_reason: string;
  /** True if no model was chosen and no other was found: the embedded one, which then fills no schema. */
  readonly fell_back?: boolean | undefined;
  /** The wire, if the user named one; null for the vendor's own. */
  readonly provider: string | null;
  /** The server's address, if it is not the vendor's own. */
  readonly url: string | null;
  /** The variable that holds the key, if it is not the vendor's own. */
  readonly api_key_name: string | null;
  /** All deployments, if the model's name stands for several. The fields above are those of the first one. */
  readonly deployments?: readonly Deployment[] | undefined;
  readonly instructions: string | null;
  readonly items: readonly Item[];
  /** Names of the tools the run may use. */
  readonly tools: readonly string[];
  readonly tool_choice: ToolChoice;
  readonly max_turns: number;
  readonly temperature: number | null;
  readonly max_output_tokens: number | null;
  readonly think: boolean;
  /** How much it thinks if `think` is set; `high` when left out. */
  readonly effort?: ThinkingEffort | undefined;
  /** Fields of the vendor's own for the body of each model call; null for none. */
  readonly options: JsonObject | null;
  readonly format: OutputFormat;
  /** Further wishes of a Responses API request; null for a run that answers no request. */
  readonly response: JsonObject | null;
  /** The folder the tools work in. */
  readonly root: string;
  /** The handling of calls that need approval. */
  readonly approve: Approval;
  /** The isolation of the commands that the run starts. */
  readonly sandbox: SandboxLevel;
  /** The most that the run may do. */
  readonly grant: Grant;
  /**
   * Rules that were given on the command line for this run alone: `offshoot runs resume` uses them again. In the run
   * itself they apply as part of the settings.
   */
  readonly rules?: readonly GivenRule[] | undefined;
  /** The limits of the run with everything below it. Its own `turns` and `tool_calls` count too. */
  readonly limits: Limits;
  /**
   * The most that a child may have in all if its parent may be in another process: it begins with `limits` and asks
   * for more. Left out if it cannot get more.
   */
  readonly ceiling?: Limits | undefined;
  /** The name that a person or the parent gave the run; null for a run without a name. */
  readonly label: string | null;
  /** The name of its agent file; left out for a run without one. */
  readonly agent?: string | null | undefined;
  /** True if it may ask its parent; left out if no parent could answer. */
  readonly can_ask?: boolean | undefined;
  /** 0 for a run that a person started, 1 for its children. */
  readonly depth: number;
  /** Asked when the task is done, without tools: the answer is the run's output. Null to ask nothing. */
  readonly summary_prompt: string | null;
  /** True if the prompt is sent with the task, so that the last answer is the report and no turn is added. */
  readonly report_along?: boolean | undefined;
  /**
   * What happens when the conversation nears the model's window. Missing in tasks of an older version, whose runs are
   * never compacted.
   */
  readonly compact?: CompactMode | undefined;
  /** The run's place in a session: the model gets all earlier items of that session. */
  readonly session?: SessionPlace | undefined;
  /** The parts of `instructions`; left out if the caller wrote them whole. */
  readonly told?: readonly ToldPart[] | undefined;
  /** How long a question about one of its calls waits for an answer; replaces the limit of all runs. */
  readonly approval_wait_ms?: number | undefined;
  /** How many MCP servers of ours stand above it; left out for a run that was not started over MCP. */
  readonly mcp_depth?: number | undefined;
  /** `end`: a tool that throws ends the run, as with the SSE form of the command line. */
  readonly on_throw: "tell_model" | "end";
}

export function encodeTask(task: AgentTask): JsonObject {
  return asJsonObject(task);
}

/** The values for a run that does not set them. */
export const SAFEGUARDS = {
  approve: "ask",
  sandbox: "process",
  grant: WHOLE_GRANT,
  limits: NO_LIMITS,
  label: null,
  depth: 0,
  summary_prompt: null,
  response: null,
  options: null,
} as const satisfies Partial<AgentTask>;

export function isTask(input: Json): input is JsonObject {
  const task = input as Partial<AgentTask> | null;
  return typeof task?.model === "string" && Array.isArray(task.items);
}

/** Reads a task back. A task that this package wrote is trusted; only that it is a task is checked. */
export function parseTask(input: Json): AgentTask {
  if (!isTask(input)) throw new Failure("internal", "The stored input is not a task.");
  // A task of an older version has none of these fields.
  const task = LATER_FIELDS.every((name) => name in input) ? input : { ...SAFEGUARDS, ...input };
  return task as unknown as AgentTask;
}

const LATER_FIELDS = Object.keys(SAFEGUARDS);
