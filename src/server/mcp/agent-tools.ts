/**
 * The tools of our MCP server: one for each agent, and four that control runs. They are few and simple, and their
 * names do not change.
 */

import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../../base/json.ts";
import { ENDINGS } from "../../protocol/run-events.ts";
import type { ServedAgent } from "./desk.ts";

/** Most seconds that `run_result` waits: clients give up on a call after 60. */
export const MAX_WAIT_S = 50;

const MAIN_TOOL = "agent";
const AGENT_PREFIX = "agent_";

const RUN_ID = {
  type: "string",
  description: "The `run_id` of an earlier result.",
} as const;

export function toToolName({ name }: ServedAgent): string {
  return name === "" ? MAIN_TOOL : AGENT_PREFIX + name;
}

export function toTools(agents: readonly ServedAgent[]): Tool[] {
  return [...agents.map(toAgentTool), ...RUN_TOOLS];
}

function toAgentTool(agent: ServedAgent): Tool {
  const { description, inputSchema, outputSchema } = agent;
  return {
    name: toToolName(agent),
    description: `${description} A long run answers "still running" with its run_id: ask run_result for the rest.`,
    inputSchema: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "The task, with all that the agent must know." },
        ...(inputSchema ? { input: inputSchema } : {}),
      },
      required: ["prompt"],
      additionalProperties: false,
    },
    outputSchema: toOutputSchema(outputSchema),
    // The tool may do what its grant allows. A client that asks its user before open tools asks here.
    annotations: { readOnlyHint: false, openWorldHint: true },
  };
}

function toOutputSchema(output: JsonObject | undefined): Tool["outputSchema"] {
  return {
    type: "object",
    properties: {
      run_id: { type: "string" },
      ending: {
        type: ["string", "null"],
        enum: [...Object.keys(ENDINGS), null],
        description: "How the run ended; null while it is working.",
      },
      cost_usd: { type: ["number", "null"], description: "Null where a price is unknown." },
      message: { type: "string", description: "The reason, if it did not complete." },
      ...(output ? { output } : {}),
    },
    required: ["run_id", "ending", "cost_usd"],
  };
}

const RUN_TOOLS: readonly Tool[] = [
  {
    name: "run_continue",
    description:
      "Continues the conversation of a run: its agent answers the message. A run that is still working reads it before its next turn.",
    inputSchema: {
      type: "object",
      properties: { run_id: RUN_ID, message: { type: "string" } },
      required: ["run_id", "message"],
      additionalProperties: false,
    },
    outputSchema: toOutputSchema(undefined),
  },
  {
    name: "run_status",
    description:
      "Shows if a run is working, has ended or waits for approval, and what it has cost.",
    inputSchema: runInput({}),
    outputSchema: toOutputSchema(undefined),
    annotations: { readOnlyHint: true },
  },
  {
    name: "run_result",
    description: "Waits for a run to end and returns its answer, or says that it is still working.",
    inputSchema: runInput({
      wait_s: {
        type: "number",
        minimum: 0,
        maximum: MAX_WAIT_S,
        description: `Seconds to wait, ${MAX_WAIT_S} at most.`,
      },
    }),
    outputSchema: toOutputSchema(undefined),
    annotations: { readOnlyHint: true },
  },
  {
    name: "run_cancel",
    description: "Stops a run and everything below it.",
    inputSchema: runInput({}),
    outputSchema: toOutputSchema(undefined),
    annotations: { destructiveHint: false, idempotentHint: true },
  },
];

function runInput(more: JsonObject): Tool["inputSchema"] {
  return {
    type: "object",
    properties: { run_id: RUN_ID, ...more } as Record<string, object>,
    required: ["run_id"],
    additionalProperties: false,
  };
}
