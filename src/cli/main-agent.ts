/**
 * `run --agent NAME`: uses an agent's file for the run itself. It comes below the flags and above every other
 * setting.
 */

import { Failure } from "../base/failure.ts";
import { clip, nearest } from "../base/text.ts";
import type { AgentDefinition } from "../delegation/agents/definition.ts";
import type { AgentFile } from "../delegation/agents/load-agents.ts";
import type { AgentLayer } from "../runtime/config/config.ts";
import type { ConfigName } from "../runtime/config/config-keys.ts";
import type { Options } from "./command.ts";

/**
 * Undefined if no agent is named. Rejects one that does not exist, is not trusted or is invalid.
 */
export function findMainAgent(
  given: Options[string],
  files: readonly AgentFile[],
): AgentDefinition | undefined {
  if (typeof given !== "string") return undefined;
  const named = files.filter(({ name }) => name === given);
  const used = named.find(({ standing }) => standing === "used");
  if (used?.definition) return used.definition;
  throw new Failure("invalid_request", toProblem(given, named.at(-1), files), { param: "agent" });
}

function toProblem(
  given: string,
  found: AgentFile | undefined,
  files: readonly AgentFile[],
): string {
  if (found && found.standing !== "broken") {
    const why =
      found.standing === "changed" ? "has changed since it was trusted" : "is not trusted";
    return `The agent \`${given}\` ${why}. Look at ${found.path}, then run \`offshoot agents trust ${given}\`.`;
  }
  if (found) return `The agent \`${given}\` cannot be used. ${found.problem}`;
  const names = [...new Set(files.map(({ name }) => name))].sort();
  if (names.length === 0) {
    return `Unknown agent \`${clip(given, 64)}\`. There are none yet: offshoot agents new NAME`;
  }
  const near = nearest(given, names);
  const hint = near === undefined ? "" : ` Did you mean \`${near}\`?`;
  return `Unknown agent \`${clip(given, 64)}\`.${hint} Available: ${clip(names.join(", "), 200)}.`;
}

/**
 * The file as a layer of the settings, so that the rules between layers apply to it: an address belongs to the vendor
 * beside it, and takes no other vendor's key.
 */
export function toAgentLayer(agent: AgentDefinition): AgentLayer {
  const { name, budget, tools } = agent;
  const entries: [ConfigName, unknown][] = [
    ["system", agent.instructions],
    ["model", agent.model],
    ["provider", agent.provider],
    ["url", agent.url],
    ["api_key_name", agent.apiKeyName],
    ["options", agent.options],
    ["tools", tools?.length === 0 ? ["none"] : tools],
    ["max_turns", budget.turns],
    ["max_total_tokens", budget.tokens],
    ["max_cost", budget.usd],
    ["max_tool_calls", budget.tool_calls],
    ["timeout", budget.seconds],
    ["agent.subagent.max_executions", budget.children],
  ];
  const given = entries.filter(([, value]) => value !== undefined);
  // A server named in the file does not get a key or a wire that was set for another server.
  const taken: [ConfigName, unknown][] =
    agent.url === undefined
      ? []
      : [
          ["provider", undefined],
          ["api_key_name", undefined],
        ];
  return { source: `agent ${name}`, settings: new Map([...taken, ...given]) };
}
