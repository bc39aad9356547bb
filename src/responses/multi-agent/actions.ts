/** The actions of a team's agents on each other: the functions that models are offered for them. */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { MAX_WAIT_MS, WAIT_MS } from "../../delegation/waiting.ts";
import type { FunctionTool } from "../../protocol/tools.ts";

export const ACTIONS = [
  "spawn_agent",
  "send_message",
  "followup_task",
  "wait_agent",
  "interrupt_agent",
  "list_agents",
] as const;
export type Action = (typeof ACTIONS)[number];

const target = {
  type: "string",
  description: "The agent: its whole name (`/root/research`) or the one you gave it (`research`).",
};

const DEFINITIONS: Readonly<Record<Action, { description: string; properties: JsonObject }>> = {
  spawn_agent: {
    description:
      "Start an agent that works beside you on a task of its own, with the same tools. Returns its name at once; its answer comes as a message from it. Start all agents that can work side by side, then call `wait_agent`: agents that still work when you give your final answer are ended.",
    properties: {
      task_name: {
        type: "string",
        description: "A short name for it: letters, digits, `_` and `-`.",
      },
      message: {
        type: "string",
        description: "The task, complete: it knows nothing else unless you fork your turns.",
      },
      fork_turns: {
        type: "string",
        description:
          'How much of your own conversation it begins with: "none" (the default), "all", or how many of the last turns.',
      },
    },
  },
  send_message: {
    description:
      "Send a message to an agent without giving it a new task. It reads it with its next step.",
    properties: { target, message: { type: "string" } },
  },
  followup_task: {
    description:
      "Give an agent that you started another task. It continues with all that it knows. If it is still working, it begins when it is done.",
    properties: { target, message: { type: "string" } },
  },
  wait_agent: {
    description:
      "Wait until an agent has sent you something, its answer or a message, or until all agents that you name have answered.",
    properties: {
      targets: {
        type: "array",
        items: { type: "string" },
        description: "Agents that must all have answered; left out, whichever is first.",
      },
      timeout_ms: {
        type: "integer",
        minimum: 1,
        maximum: MAX_WAIT_MS,
        description: `How long to wait at most; ${WAIT_MS} when left out.`,
      },
    },
  },
  interrupt_agent: {
    description: "Stop the work of an agent that you started. It keeps what it knows.",
    properties: { target },
  },
  list_agents: {
    description: "List all agents, what they are doing and their last tasks.",
    properties: {},
  },
};

const REQUIRED: Readonly<Record<Action, readonly string[]>> = {
  spawn_agent: ["task_name", "message"],
  send_message: ["target", "message"],
  followup_task: ["target", "message"],
  wait_agent: [],
  interrupt_agent: ["target"],
  list_agents: [],
};

export function toActionSpec(action: Action): FunctionTool {
  const { description, properties } = DEFINITIONS[action];
  return {
    type: "function",
    name: action,
    description,
    parameters: {
      type: "object",
      properties,
      required: REQUIRED[action],
      additionalProperties: false,
    },
    strict: false,
  };
}

/** The checked arguments of a call; fields that the action does not need are empty. */
export interface ActionInput {
  readonly taskName: string;
  readonly message: string;
  readonly forkTurns: string;
  readonly target: string;
  readonly targets: readonly string[];
  readonly timeoutMs: number;
}

export function parseAction(action: Action, input: Json): ActionInput {
  if (!isJsonObject(input)) throw invalid("the arguments must be an object");
  for (const name of REQUIRED[action]) {
    const value = input[name];
    if (typeof value === "string" && value.trim() !== "") continue;
    throw invalid(`\`${name}\` must be a text that is not empty`);
  }
  const { targets, timeout_ms: timeoutMs } = input;
  return {
    taskName: textOf(input["task_name"]),
    message: textOf(input["message"]),
    forkTurns: parseFork(input["fork_turns"]),
    target: textOf(input["target"]),
    targets: Array.isArray(targets) ? targets.filter((one) => typeof one === "string") : [],
    timeoutMs:
      typeof timeoutMs === "number" && timeoutMs > 0 ? Math.min(timeoutMs, MAX_WAIT_MS) : WAIT_MS,
  };
}

function parseFork(given: Json | undefined): string {
  const text = given === undefined || given === null ? "none" : String(given);
  if (/^(none|all|[1-9]\d{0,3})$/.test(text)) return text;
  throw invalid('`fork_turns` must be "none", "all" or a number of turns');
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function invalid(problem: string): Failure {
  return new Failure("invalid_request", `The arguments do not fit: ${problem}.`);
}
