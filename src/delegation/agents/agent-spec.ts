/** Describes to a model the agents that it may name. */

import { isJsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import type { AgentDefinition } from "./definition.ts";

/** Descriptions are sent with every request; the whole text is in the file. */
const MAX_SHOWN_CHARS = 300;

/** Lines of `name: description`; empty without agents. */
export function describeAgents(agents: readonly AgentDefinition[]): string {
  return agents
    .map(({ name, description }) => `${name}: ${clip(description, MAX_SHOWN_CHARS)}`)
    .join("\n");
}

/**
 * Adds the argument `agent` and its possible values to a delegating tool; returns the tool unchanged if there are no
 * agents.
 */
export function withAgents(spec: FunctionTool, agents: readonly AgentDefinition[]): FunctionTool {
  const { parameters, description } = spec;
  if (agents.length === 0 || !isJsonObject(parameters)) return spec;
  const properties = isJsonObject(parameters["properties"]) ? parameters["properties"] : {};
  const agent = {
    type: "string",
    enum: agents.map(({ name }) => name),
    description: "The agent that does it, with instructions, tools and limits of its own.",
  };
  return {
    ...spec,
    description: `${description ?? ""}\n\nAgents for \`agent\`:\n${describeAgents(agents)}`,
    parameters: { ...parameters, properties: { ...properties, agent } },
  };
}
