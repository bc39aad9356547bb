/**
 * Checks that a rule names an existing tool. A rule with a typo matches nothing, and the user would believe
 * that something is refused.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { clip, nearest } from "../../base/text.ts";
import { RULE_KINDS, type Rule } from "./rules.ts";

/** Rejects the first rule whose tool is neither among `known` nor possible for an MCP server. */
export function checkRuleNames(rules: readonly Rule[], known: readonly string[]): void {
  for (const { tool, text, source } of rules) {
    if (namesTool(tool, known)) continue;
    const shown = clip(text, 60);
    const near = nearest(tool, [...known, ...RULE_KINDS]);
    const hint = near
      ? `Did you mean \`${near}\`?`
      : `Tools: ${known.join(", ")}. Any tool: ${RULE_KINDS.map((kind) => `${kind}(…)`).join(", ")}.`;
    const message = `${source}: the rule \`${shown}\` names no tool. ${hint}`;
    throw new Failure("invalid_request", message, { param: "rules" });
  }
}

/**
 * True if a name or pattern matches one of these tools, or may match one of an MCP server
 * (`mcp__github__*`), whose tools are known only after it has started.
 */
export function namesTool(tool: string, known: readonly string[]): boolean {
  return known.some((name) => matchesGlob(name, tool)) || /^[\w.*-]*__/.test(tool);
}
