/**
 * The descriptions of the delegating tools, for models. Every run has these; the code of the calls is loaded by the
 * first of them (`delegating-tools.ts`).
 */

import { isJsonObject, type Json } from "../../base/json.ts";
import { REPORT_WISH } from "../../protocol/report-wish.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import { describeAgents, withAgents } from "../agents/agent-spec.ts";
import type { DelegationNode } from "../node.ts";
import type { DelegationSettings } from "../settings.ts";
import { MAX_WAIT_MS } from "../waiting.ts";
import { ASK_PARENT, SUBAGENTS } from "./names.ts";

/** Longer than any child may live: its own limit ends it. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

const SUBAGENT_DESCRIPTION =
  "Delegate a focused task to a recursive agent instance with isolated conversation context. Use this when you need to explore a sub-problem independently without polluting the main conversation. Without `allowed_tools` it has all of your tools. Several calls in one turn run side by side.";

const PROPERTIES = {
  label: {
    type: "string",
    minLength: 1,
    description: "Unique identifier for tracking this subagent instance.",
  },
  task_prompt: {
    type: "string",
    minLength: 1,
    description:
      "The specific task for the subagent to complete. Should be self-contained and explicit.",
  },
  summary_prompt: {
    type: "string",
    default: REPORT_WISH,
    description:
      "Prompt for a report, if the subagent's last answer is not meant to be its report. The subagent is asked once more with it.",
  },
  allowed_tools: {
    type: "array",
    items: { type: "string" },
    description:
      "Names of the tools it may use; left out, all of yours. `subagent` cannot be named.",
  },
  max_turns: {
    type: "integer",
    minimum: 1,
    maximum: 50,
    description: "Most model calls it may make.",
  },
};

/** For a subagent whose call waits for it, and for each task of `parallel_subagent`. */
export const TASK_SPEC: FunctionTool = {
  type: "function",
  name: "subagent",
  description: SUBAGENT_DESCRIPTION,
  strict: false,
  parameters: {
    type: "object",
    required: ["label", "task_prompt"],
    properties: PROPERTIES,
    additionalProperties: false,
  },
};

export const SUBAGENT_SPEC: FunctionTool = {
  ...TASK_SPEC,
  parameters: {
    ...TASK_SPEC.parameters,
    properties: {
      ...PROPERTIES,
      background: {
        type: "boolean",
        description: "Answer at once with its id; its report comes to you later.",
      },
      continue: {
        type: "string",
        description:
          "Id or label of a subagent of yours that has ended: it continues with all that it knows.",
      },
    },
  },
};

export const CALL_SUBAGENT_SPEC: FunctionTool = {
  type: "function",
  name: "call_subagent",
  description:
    "Hand a prompt to a subagent that runs in a process of its own, sees nothing of this conversation and answers with the text it writes. It has no tools but those you name. Several calls in one turn run side by side.",
  strict: false,
  parameters: {
    type: "object",
    required: ["prompt"],
    properties: {
      prompt: {
        type: "string",
        minLength: 1,
        description:
          "The prompt for the subagent. It must contain everything that the subagent needs.",
      },
      system_prompt: { type: "string", description: "Instructions for it." },
      tool_subset: {
        type: "array",
        items: { type: "string" },
        description: "Names of the tools it may use, from those you have; left out, none.",
      },
    },
    additionalProperties: false,
  },
};

/** The most that a call may ask for, if the settings do not allow more anyway. */
const MAX_CONCURRENT = 100;

const PARALLEL_DESCRIPTION =
  "Delegate several independent tasks to subagents that run side by side, and get one result for each task, in order. A task that fails does not stop the others unless `fail_fast` is set. The fields of a task are those of `subagent`.";

/** The parts that the description of the tool depends on. */
export type SpecSubject = Pick<DelegationNode, "agents" | "settings">;

export function toParallelSpec({ agents, settings }: SpecSubject): FunctionTool {
  const one = withAgents(TASK_SPEC, agents);
  const named = agents.length > 0 ? `\n\nAgents for \`agent\`:\n${describeAgents(agents)}` : "";
  return {
    type: "function",
    name: "parallel_subagent",
    description: `${PARALLEL_DESCRIPTION}${named}`,
    strict: false,
    parameters: {
      type: "object",
      required: ["tasks"],
      properties: {
        tasks: { type: "array", minItems: 1, items: { ...one.parameters } },
        max_concurrent: {
          type: "integer",
          minimum: 1,
          maximum: toMostConcurrent(settings),
          default: settings.maxParallel,
          description: "Most tasks that run at once.",
        },
        fail_fast: {
          type: "boolean",
          default: false,
          description: "Stop the other tasks when one fails.",
        },
      },
      additionalProperties: false,
    },
  };
}

export function toMostConcurrent({ maxParallel }: DelegationSettings): number {
  return Math.max(MAX_CONCURRENT, maxParallel);
}

/** How many children a call of `parallel_subagent` would start. */
export function countTasks(input: Json): number {
  const tasks = isJsonObject(input) ? input["tasks"] : undefined;
  return Array.isArray(tasks) ? tasks.length : 0;
}

export const ACTIONS = ["wait", "list", "stop", "message"] as const;

export const SUBAGENTS_SPEC: FunctionTool = {
  type: "function",
  name: SUBAGENTS,
  description:
    "Background subagents: `wait` until those in `ids` (left out: the first) have ended, `list` all, `stop` one, or send it a `message`, which also answers its question.",
  strict: false,
  parameters: {
    type: "object",
    required: ["action"],
    properties: {
      action: { type: "string", enum: [...ACTIONS] },
      ids: { type: "array", items: { type: "string" } },
      timeout_ms: { type: "integer", minimum: 1, maximum: MAX_WAIT_MS },
      id: { type: "string" },
      text: { type: "string" },
    },
    additionalProperties: false,
  },
};

export const ASK_PARENT_SPEC: FunctionTool = {
  type: "function",
  name: ASK_PARENT,
  description: "Ask the one who gave you this task, if you cannot continue without an answer.",
  strict: false,
  parameters: {
    type: "object",
    required: ["question"],
    properties: { question: { type: "string", minLength: 1 } },
    additionalProperties: false,
  },
};
