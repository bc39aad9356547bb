/**
 * The wish of a call that names an agent: what the file says, narrowed by the call. What the parent or the file does
 * not allow is refused with its name; nothing is dropped silently.
 */

import type { Limits } from "../../agent/limits.ts";
import { SKILL_TOOL } from "../../agent/told-parts.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import { toOwnNames } from "../../tools/same-tools.ts";
import type { ChildWish } from "../child.ts";
import { ASK_PARENT, isDelegating } from "../tools/names.ts";
import type { AgentDefinition } from "./definition.ts";

/**
 * Reads the wish of a call whose arguments may name an agent. `read` reads all other arguments, and throws if one of
 * them is invalid.
 */
export function readAgentWish(
  input: Json,
  read: (rest: Json) => ChildWish,
  parent: { readonly agents: readonly AgentDefinition[]; readonly tools: readonly string[] },
): ChildWish {
  if (!isJsonObject(input) || input["agent"] === undefined || input["agent"] === null) {
    return read(isJsonObject(input) ? withoutAgent(input) : input);
  }
  const { agent, summary_prompt } = input;
  const wish = read(withoutAgent(input));
  const definition = findAgent(agent, parent.agents);
  if (answersWithJson(definition) && typeof summary_prompt === "string" && summary_prompt !== "") {
    const message = `The agent \`${definition.name}\` answers with a JSON document of its own. Leave \`summary_prompt\` out`;
    throw refuse(message);
  }
  return toWish(definition, wish, parent.tools);
}

/** `parentTools` are the names of all tools that the parent has, also of those that delegate. */
export function toWish(
  definition: AgentDefinition,
  call: ChildWish,
  parentTools: readonly string[],
): ChildWish {
  const { name, model, options, budget, outputSchema, instructions } = definition;
  const { url, provider, apiKeyName } = definition;
  const { turns, seconds, ...amounts } = budget;
  const limits: Partial<Limits> = { ...amounts, ...(turns === undefined ? {} : { turns }) };
  return {
    ...call,
    agent: name,
    instructions,
    model,
    ...(url || provider || apiKeyName ? { address: { url, provider, apiKeyName } } : {}),
    ...(options ? { options } : {}),
    tools: narrowTools(definition, call, parentTools),
    ...(namesAsking(definition, call) ? { canAsk: true } : {}),
    maxTurns: narrowTurns(definition, call),
    limits,
    schema: outputSchema,
    isJson: definition.outputMode === "json_object",
    // The document is the answer; a report about it would replace it.
    summaryPrompt: answersWithJson(definition) ? null : call.summaryPrompt,
    timeoutMs: seconds === undefined ? undefined : seconds * 1000,
  };
}

/** The file's list decides if the call has no list of its own. */
function namesAsking({ tools = [] }: AgentDefinition, call: ChildWish): boolean {
  return call.canAsk === true || (call.tools === undefined && tools.includes(ASK_PARENT));
}

function answersWithJson({ outputSchema, outputMode }: AgentDefinition): boolean {
  return outputSchema !== undefined || outputMode !== undefined;
}

/** Why a run with these tools cannot call the agent; undefined if it can. */
export function findUncallable(
  definition: AgentDefinition,
  parentTools: readonly string[],
): string | undefined {
  try {
    resolveTools(definition, parentTools);
    return undefined;
  } catch (thrown) {
    return toFailure(thrown).message;
  }
}

function withoutAgent({ agent: _, ...rest }: { readonly [key: string]: Json | undefined }): Json {
  return rest;
}

function findAgent(given: Json, agents: readonly AgentDefinition[]): AgentDefinition {
  const found = agents.find(({ name }) => name === given);
  if (found) return found;
  const names = agents.map(({ name }) => name);
  const written = clip(typeof given === "string" ? given : JSON.stringify(given), 64);
  const near = nearest(written, names);
  const hint = near ? ` Did you mean \`${near}\`?` : "";
  const all = names.length > 0 ? names.join(", ") : "none";
  throw refuse(`Unknown agent: ${written}.${hint} Agents: ${all}`);
}

function narrowTools(
  definition: AgentDefinition,
  { tools: asked }: ChildWish,
  parentTools: readonly string[],
): readonly string[] | undefined {
  const own = resolveTools(definition, parentTools);
  if (own === undefined || asked === undefined) return asked ?? own;
  const missing = asked.find((tool) => !own.includes(tool));
  if (missing === undefined) return asked;
  throw refuse(`The agent \`${definition.name}\` has no tool \`${missing}\``);
}

/**
 * A name must be available; a pattern takes what matches. No pattern allows delegation: that must be named, or comes
 * with all of the parent's tools.
 */
function resolveTools(
  { name, tools: written }: AgentDefinition,
  parentTools: readonly string[],
): readonly string[] | undefined {
  if (written === undefined) return undefined;
  const wanted = written.filter((tool) => !isOptional(tool) || parentTools.includes(tool));
  const tools = toOwnNames(wanted, parentTools);
  const missing = tools.filter((tool) => !isPattern(tool) && !parentTools.includes(tool));
  if (missing.length > 0) {
    const names = missing.map((tool) => `\`${tool}\``).join(", ");
    throw refuse(`The agent \`${name}\` needs ${names}, which its parent does not have`);
  }
  const own = parentTools.filter((tool) =>
    tools.some((one) =>
      isPattern(one) ? !isDelegating(tool) && matchesGlob(tool, one) : one === tool,
    ),
  );
  if (own.length > 0 || tools.length === 0) return own;
  const patterns = tools.map((tool) => `\`${tool}\``).join(", ");
  throw refuse(
    `The agent \`${name}\` would have no tools: none of its parent's tools matches ${patterns}`,
  );
}

/** A subagent works without these: `ask_parent` is not a tool of the parent, and there may be no skills here. */
function isOptional(tool: string): boolean {
  return tool === ASK_PARENT || tool === SKILL_TOOL;
}

function isPattern(tool: string): boolean {
  return /[*?{]/.test(tool);
}

function narrowTurns({ name, budget }: AgentDefinition, call: ChildWish): number | undefined {
  const { turns } = budget;
  if (turns === undefined || call.maxTurns === undefined) return call.maxTurns ?? turns;
  if (call.maxTurns <= turns) return call.maxTurns;
  throw refuse(
    `The agent \`${name}\` has at most ${turns} turns, and max_turns asks for ${call.maxTurns}`,
  );
}

function refuse(message: string): Failure {
  return new Failure("invalid_request", message);
}
