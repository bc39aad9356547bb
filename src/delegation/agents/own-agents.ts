/** Agents that a program writes as objects, checked like those in files. */

import { Failure } from "../../base/failure.ts";
import { clip, nearest } from "../../base/text.ts";
import { AGENT_NAME, type AgentDefinition, BUDGET, type BudgetKind } from "./definition.ts";

/** A field that is left out means the same as in a file: its parent's model, all of its parent's tools. */
export type AgentOptions = Pick<AgentDefinition, "name" | "description" | "instructions"> &
  Partial<Omit<AgentDefinition, "name" | "description" | "instructions">>;

/** All fields, so that a mistyped one is refused and not silently ignored. */
const FIELDS: Readonly<Record<keyof AgentDefinition, true>> = {
  name: true,
  description: true,
  path: true,
  model: true,
  options: true,
  tools: true,
  url: true,
  provider: true,
  apiKeyName: true,
  budget: true,
  inputSchema: true,
  outputMode: true,
  outputSchema: true,
  schemaFile: true,
  expose: true,
  instructions: true,
};

/** Rejects the first agent that could not be called. */
export function toAgents(agents: readonly AgentOptions[]): AgentDefinition[] {
  return agents.map((agent, at) => {
    check(agent);
    if (agents.findIndex(({ name }) => name === agent.name) < at) {
      throw refuse(agent.name, "another agent has the same name");
    }
    return {
      path: `agents: ${agent.name}`,
      model: undefined,
      tools: undefined,
      outputSchema: undefined,
      schemaFile: undefined,
      ...agent,
      budget: agent.budget ?? {},
    };
  });
}

function check(agent: AgentOptions): void {
  const { name, description, instructions, budget = {} } = agent;
  if (typeof name !== "string" || !AGENT_NAME.test(name)) {
    throw refuse(String(name), "`name` must be a lower-case letter, then letters, digits, _ and -");
  }
  for (const [field, text] of Object.entries({ description, instructions })) {
    if (typeof text === "string" && text.trim() !== "") continue;
    throw refuse(name, `\`${field}\` is missing`);
  }
  checkNames(name, Object.keys(agent), Object.keys(FIELDS));
  for (const field of ["url", "provider", "apiKeyName"] as const) {
    if (agent[field] === undefined || agent.model !== undefined) continue;
    throw refuse(name, `\`${field}\` says where a model is, so \`model\` must be there too`);
  }
  checkBudget(name, budget);
}

function checkBudget(name: string, budget: AgentDefinition["budget"]): void {
  checkNames(name, Object.keys(budget), Object.keys(BUDGET));
  for (const kind of KINDS) {
    const most = budget[kind];
    if (most === undefined) continue;
    const { min, max, isWhole } = BUDGET[kind];
    const isNumber = isWhole ? Number.isInteger(most) : typeof most === "number";
    if (isNumber && most >= min && most <= max) continue;
    const number = isWhole ? "a whole number" : "a number";
    throw refuse(name, `\`budget.${kind}\` must be ${number} from ${min} to ${max}, not ${most}`);
  }
}

const KINDS = Object.keys(BUDGET) as BudgetKind[];

function checkNames(agent: string, given: readonly string[], known: readonly string[]): void {
  const name = given.find((one) => !known.includes(one));
  if (name === undefined) return;
  const near = nearest(name, known);
  const hint = near === undefined ? "" : `; did you mean \`${near}\`?`;
  throw refuse(agent, `unknown field \`${clip(name, 60)}\`${hint}`);
}

function refuse(agent: string, problem: string): Failure {
  const message = `The agent \`${clip(agent, 60)}\` cannot be used: ${problem}.`.replace("?.", "?");
  return new Failure("invalid_request", message, { param: "agents" });
}
