/** Finds what is wrong with an agent before it is called. */

import { isNativeName } from "../../agent/native-names.ts";
import { createOutputCheck } from "../../agent/structured-output.ts";
import { SKILL_TOOL } from "../../agent/told-parts.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import type { JsonObject } from "../../base/json.ts";
import { nearest } from "../../base/text.ts";
import { namesTool } from "../../tools/gate/rule-names.ts";
import { ASK_PARENT } from "../tools/names.ts";
import { findUncallable } from "./agent-wish.ts";
import type { AgentDefinition } from "./definition.ts";

export interface Known {
  /** The names of all tools that runs may have. */
  readonly tools: readonly string[];
  /** The names of the tools that a run has without flags. */
  readonly usual: readonly string[];
  /** Throws for an unknown model. */
  checkModel(model: string): void;
  /** Throws for an unknown API. */
  checkProvider(provider: string): void;
}

/** One line for each problem, with the file; empty if the agent can be used. */
export async function findAgentProblems(agent: AgentDefinition, known: Known): Promise<string[]> {
  const unknown = (agent.tools ?? []).flatMap((tool) => toolProblem(tool, known.tools));
  const problems = [
    ...(unknown.length > 0 ? unknown : callProblem(agent, known.usual)),
    ...modelProblem(agent, known),
    ...(await schemaProblem(agent)),
  ];
  return problems.map((problem) => `${agent.path}: ${problem}`);
}

/** Rejects the first agent that names an unknown tool; `known` are all tools except those of MCP servers. */
export function checkAgentTools(
  agents: readonly AgentDefinition[],
  known: readonly string[],
): void {
  for (const { path, tools = [] } of agents) {
    const wrong = tools.find((tool) => !namesTool(tool, known) && !isUnlisted(tool));
    if (wrong === undefined) continue;
    throw new Failure("invalid_request", `${path}: ${toolProblem(wrong, known).join("")}`);
  }
}

function toolProblem(wanted: string, known: readonly string[]): string[] {
  if (isUnlisted(wanted) || known.some((name) => matchesGlob(name, wanted))) return [];
  const near = nearest(wanted, known);
  return [`No tool fits \`${wanted}\`.${near ? ` Did you mean \`${near}\`?` : ""}`];
}

/**
 * True for tools that a list of a run's tools never has: native tools of a vendor, tools that only a subagent gets,
 * and the tool that loads skills, which is missing in a folder without skills.
 */
function isUnlisted(tool: string): boolean {
  return isNativeName(tool) || tool === ASK_PARENT || tool === SKILL_TOOL;
}

/** Why a run that has these tools cannot call the agent; empty if it can. */
export function callProblem(agent: AgentDefinition, tools: readonly string[]): string[] {
  const why = findUncallable(agent, tools);
  return why === undefined ? [] : [`It cannot be called: ${why}. Name tools with \`--tools\`.`];
}

function modelProblem({ model, provider }: AgentDefinition, known: Known): string[] {
  try {
    if (model !== undefined) known.checkModel(model);
    if (provider !== undefined) known.checkProvider(provider);
    return [];
  } catch (thrown) {
    return [toFailure(thrown).message];
  }
}

async function schemaProblem({ inputSchema, outputSchema }: AgentDefinition): Promise<string[]> {
  const problems = await Promise.all([inputSchema, outputSchema].map(findSchemaProblem));
  return problems.flat();
}

async function findSchemaProblem(schema: JsonObject | undefined): Promise<string[]> {
  if (!schema) return [];
  try {
    await createOutputCheck({ type: "json_schema", name: "report", schema, strict: true });
    return [];
  } catch (thrown) {
    return [toFailure(thrown).message];
  }
}
