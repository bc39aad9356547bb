/** The tools that delegate. They are made for each run, and are nobody's to hand on. */

export const DELEGATING_TOOLS = ["subagent", "call_subagent", "parallel_subagent"] as const;
export type DelegatingName = (typeof DELEGATING_TOOLS)[number];

/** Whether its children always run in processes of their own. */
export function needsProcess(name: string): boolean {
  return name === "call_subagent";
}

export function isDelegating(name: string): boolean {
  return (DELEGATING_TOOLS as readonly string[]).includes(name);
}
