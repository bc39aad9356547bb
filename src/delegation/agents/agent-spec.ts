/** What a model is told of the agents it may name. */

import { isJsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import type { AgentDefinition } from "./definition.ts";

/** All of it is sent with every request; the whole is in the file. */
const MAX_SHOWN_CHARS = 300;

/** Lines of `name: description`; empty when there are none. */
export function describeAgents(agents: readonly AgentDefinition[]): string {
  return agents
    .map(({ name, description }) => `${name}: ${clip(description, MAX_SHOWN_CHARS)}`)
    .join("\n");
}

/** A tool of delegation with the argument `agent`, and what may stand there; as it is without agents. */
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
