/** An agent that a server offers, as a request of the Responses API in the name of a key. Pure. */

import { NO_LIMITS } from "../../agent/limits.ts";
import { toOutputFormat } from "../../agent/output-mode.ts";
import { matchesGlob } from "../../base/glob.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import { OWN_LABEL } from "../../responses/kinds/mcp.ts";
import type { ResponsePreset } from "../../responses/request/plan-response.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import { toLeast } from "../guard/allowance.ts";

/** Those that a client may call: an address of an agent's own belongs among `server.models`, where keys are held to it. */
export function isOfferedToClients({ expose = [], url }: AgentDefinition): boolean {
  return expose.includes("mcp") && url === undefined;
}

/** What the key may do, narrowed to what the agent may. */
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

/** `caller` is the narrowed one. In the background, so that it goes on without its client, in any process. */
export function toAgentRequest(
  agent: AgentDefinition,
  { catalogue }: Caller,
  asked: { readonly prompt: string; readonly previous?: string | undefined },
): JsonObject {
  const { model, instructions, outputMode: output_mode, outputSchema: output_schema } = agent;
  const hasFormat = (output_mode ?? output_schema) !== undefined;
  const format = hasFormat ? toOutputFormat({ output_mode, output_schema }) : undefined;
  return {
    ...(model === undefined ? {} : { model }),
    ...(asked.previous === undefined ? {} : { previous_response_id: asked.previous }),
    ...(format === undefined ? {} : { text: { format: format as unknown as Json } }),
    instructions,
    input: asked.prompt,
    tools: toServers(catalogue),
    ...{ store: true, background: true },
  };
}

/** What no request can say of it. */
export function toAgentPreset({ name, budget, options }: AgentDefinition): ResponsePreset {
  return {
    agent: name,
    ...(options === undefined ? {} : { options }),
    ...(budget.turns === undefined ? {} : { max_turns: budget.turns }),
    ...(budget.seconds === undefined ? {} : { timeoutMs: budget.seconds * 1000 }),
  };
}

/** The server's own tools stand under its label, those of its MCP servers under theirs. What they may do is decided by the gate. */
function toServers(catalogue: readonly string[]): JsonObject[] {
  const servers = new Map<string, string[]>();
  for (const tool of catalogue) {
    const [, label = OWN_LABEL, name = tool] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
    servers.set(label, [...(servers.get(label) ?? []), name]);
  }
  return [...servers].map(([server_label, allowed_tools]) => ({
    ...{ type: "mcp", server_label, allowed_tools, require_approval: "never" },
  }));
}
