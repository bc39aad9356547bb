/** Resolves names and patterns to tools. */

import { isNativeName } from "../agent/native-names.ts";
import { SKILL_TOOL } from "../agent/told-parts.ts";
import { Failure } from "../base/failure.ts";
import { matchesGlob } from "../base/glob.ts";
import type { Runtime } from "./runtime.ts";

/**
 * The usual tools if none are named. The single word `none` means an empty list. Rejects with `invalid_request` for an unknown name;
 * `skill` is left out without skills, so that an agent can name it in every folder. MCP servers are started
 * only if a name is not a built-in tool's.
 */
export async function pickTools(
  named: readonly string[] | undefined,
  runtime: Pick<Runtime, "toolNames" | "listTools" | "usualTools">,
): Promise<readonly string[]> {
  if (named === undefined) return runtime.usualTools();
  if (named.length === 1 && named[0] === "none") return [];
  // What the vendor runs is known when the model is.
  const native = named.filter(isNativeName);
  const isMissingSkill = (name: string): boolean =>
    name === SKILL_TOOL && !runtime.toolNames.includes(name);
  const wanted = named.filter((name) => !isNativeName(name) && !isMissingSkill(name));
  const isHere = (pattern: string): boolean =>
    !pattern.includes("*") && runtime.toolNames.includes(pattern);
  const names = wanted.every(isHere) ? runtime.toolNames : await runtime.listTools();
  const unknown = wanted.find((pattern) => !names.some((name) => matchesGlob(name, pattern)));
  if (unknown !== undefined) {
    const known = names.join(", ");
    throw new Failure("invalid_request", `No tool fits \`${unknown}\`. Tools: ${known}.`);
  }
  const picked = names.filter((name) => wanted.some((pattern) => matchesGlob(name, pattern)));
  return [...picked, ...native];
}
