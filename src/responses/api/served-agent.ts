/** An agent that a server offers to clients: what its file lets it do, in the words of a request. Pure. */

import { NO_LIMITS, toLeast } from "../../agent/limits.ts";
import { matchesGlob } from "../../base/glob.ts";
import type { JsonObject } from "../../base/json.ts";
import type { AgentDefinition, Exposed } from "../../delegation/agents/definition.ts";
import { OWN_LABEL } from "../kinds/mcp.ts";
import type { ResponsePreset } from "../request/asked-response.ts";
import type { Caller } from "../tenant/caller.ts";

/**
 * The agents that a client may call so: an address of an agent's own belongs among `server.models`, where keys are
 * held to it.
 */
export function isOfferedAs(exposed: Exposed, { expose = [], url }: AgentDefinition): boolean {
  return expose.includes(exposed) && url === undefined;
}

/** The rights of the key, narrowed to those of the agent. */
export function toAgentCaller(caller: Caller, { tools, budget }: AgentDefinition): Caller {
  const { seconds: _, ...amounts } = budget;
  const isNamed = (tool: string): boolean =>
    tools === undefined || tools.some((glob) => matchesGlob(tool, glob));
  return {
    ...caller,
    catalogue: caller.catalogue.filter(isNamed),
    limits: toLeast(caller.limits, { ...NO_LIMITS, ...amounts }),
  };
}

/** The parts of an agent that no request can set. */
export function toAgentPreset({ name, budget, options }: AgentDefinition): ResponsePreset {
  return {
    agent: name,
    ...(options === undefined ? {} : { options }),
    ...(budget.turns === undefined ? {} : { max_turns: budget.turns }),
    ...(budget.seconds === undefined ? {} : { timeoutMs: budget.seconds * 1000 }),
  };
}

/**
 * The server's own tools stand under its label, those of its MCP servers under theirs. What they may do is decided by
 * the gate.
 */
export function toServers(catalogue: readonly string[]): JsonObject[] {
  const servers = new Map<string, string[]>();
  for (const tool of catalogue) {
    const [, label = OWN_LABEL, name = tool] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
    servers.set(label, [...(servers.get(label) ?? []), name]);
  }
  return [...servers].map(([server_label, allowed_tools]) => ({
    type: "mcp",
    server_label,
    allowed_tools,
    require_approval: "never",
  }));
}
