/**
 * What a run is asked to do, as JSON: it is written down before the run starts, so that another
 * process can take it up. Keys are named by their variables; no secret is in here.
 */

import { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Item } from "../protocol/items.ts";
import type { ToldPart } from "../protocol/told-part.ts";
import type { ToolChoice } from "../protocol/tools.ts";
import type { OutputFormat } from "../providers/provider.ts";
import type { Approval } from "../tools/gate/decide.ts";
import { type Grant, WHOLE_GRANT } from "../tools/gate/grant.ts";
import type { SandboxLevel } from "../tools/sandbox/sandbox.ts";
import { type Limits, NO_LIMITS } from "./limits.ts";

/** Seed of the loop's length: one turn is one model call. */
export const DEFAULT_MAX_TURNS = 50;

/** One of several that a model's name stands for. */
export interface Deployment extends Pick<AgentTask, "model" | "provider" | "url" | "api_key_name"> {
  /** Its share among those that are not fallbacks. */
  readonly weight: number;
  /** Asked when none of the others answers. */
  readonly fallback: boolean;
}

/** A rule as a person wrote it. */
export interface GivenRule {
  readonly verdict: string;
  readonly text: string;
  /** The flag. */
  readonly source: string;
}

/** Whether a conversation that has become too long goes on in short (`auto`), or ends the run (`off`). */
export const COMPACT_MODES = ["auto", "off"] as const;
export type CompactMode = (typeof COMPACT_MODES)[number];

/** The place of a run in its session, which is a conversation of the API. */
export interface SessionPlace {
  readonly tenant: string;
  readonly id: string;
  /** Of the last item before the run on the shelf, 0 for none: what comes later is not its past. */
  readonly position: number;
}

export interface AgentTask {
  /** `vendor/model`. */
  readonly model: string;
  /** Why this model was taken: a flag, a key that was found, nothing else. */
  readonly model_reason: string;
  /** True where nobody chose the model and nothing else was found: the embedded one, which then fills no schema. */
  readonly fell_back?: boolean | undefined;
  /** The wire, where the user named one; else the vendor's own. */
  readonly provider: string | null;
  /** The server's address, where it is not the vendor's own. */
  readonly url: string | null;
  /** The variable that holds the key, where it is not the vendor's own. */
  readonly api_key_name: string | null;
  /** Where the model's name stands for several: all of them. The fields above are the first one's. */
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
  /** Fields of the vendor's own for the body of each model call; null for none. */
  readonly options: JsonObject | null;
  readonly format: OutputFormat;
  /** What a request of the Responses API asks beyond this; null for a run that answers none. */
  readonly response: JsonObject | null;
  /** The folder the tools work in. */
  readonly root: string;
  /** What is done about calls that are to be asked about. */
  readonly approve: Approval;
  /** What holds the commands it runs. */
  readonly sandbox: SandboxLevel;
  /** What it may do at most. */
  readonly grant: Grant;
  /**
   * Rules that were given for this run alone, on its command line: `offshoot runs resume` has them again. In
   * the run itself they hold as part of the settings.
   */
  readonly rules?: readonly GivenRule[] | undefined;
  /** What it may spend, with everything below it. `turns` and `tool_calls` of its own count too. */
  readonly limits: Limits;
  /**
   * What a child may have in all whose parent may be in another process: it begins with `limits` and asks for
   * more. Left out where there is no more to ask for.
   */
  readonly ceiling?: Limits | undefined;
  /** What a person or its parent calls it; null for a run that nobody named. */
  readonly label: string | null;
  /** The agent of a file that it is; left out for one that is none. */
  readonly agent?: string | null | undefined;
  /** Whether it may ask its parent; left out where nobody could answer. */
  readonly can_ask?: boolean | undefined;
  /** 0 for a run that a person started, 1 for its children. */
  readonly depth: number;
  /** Asked when the task is done, without tools: the answer is the run's output. Null to ask nothing. */
  readonly summary_prompt: string | null;
  /** Whether that goes along with the task, so that the last answer is the report and no turn is added. */
  readonly report_along?: boolean | undefined;
  /** What is done where the conversation nears the model's window; a task of an older version names nothing, and is never compacted. */
  readonly compact?: CompactMode | undefined;
  /** Its place in a session: it is asked with all that stands before it there. */
  readonly session?: SessionPlace | undefined;
  /** What `instructions` were made of; left out where somebody wrote them whole. */
  readonly told?: readonly ToldPart[] | undefined;
  /** How long a question about one of its calls waits for an answer, in place of what holds for all runs. */
  readonly approval_wait_ms?: number | undefined;
  /** How many MCP servers of ours stand above it; left out for a run that nobody called over MCP. */
  readonly mcp_depth?: number | undefined;
  /** `end`: a tool that throws ends the run, as the SSE form of the command line has it. */
  readonly on_throw: "tell_model" | "end";
}

export function encodeTask(task: AgentTask): JsonObject {
  return task as unknown as JsonObject;
}

/** What holds for a run of which nothing else is said. */
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

/** Reads a task back. What was written by this package is taken at its word, but for its being one. */
export function parseTask(input: Json): AgentTask {
  // A task of an older version names none.
  if (isTask(input)) return { ...SAFEGUARDS, ...input } as unknown as AgentTask;
  throw new Failure("internal", "The stored input is not a task.");
}
