/** The tools that delegate. They are made for each run, and a run cannot pass them on. */

export const DELEGATING_TOOLS = ["subagent", "call_subagent", "parallel_subagent"] as const;
export type DelegatingName = (typeof DELEGATING_TOOLS)[number];

/** Offered with `subagent` if calls may leave children in the background. */
export const SUBAGENTS = "subagents";
/** Offered to children whose parents can answer. */
export const ASK_PARENT = "ask_parent";

/** True if its children always run in processes of their own. */
export function needsProcess(name: string): boolean {
  return name === "call_subagent";
}

export function isDelegating(name: string): boolean {
  return (DELEGATING_TOOLS as readonly string[]).includes(name);
}

/** The names of all tools that a run with these is offered: some tools come with others. */
export function withCompanions(tools: readonly string[], canAsk: boolean): readonly string[] {
  const added = [
    ...(tools.includes("subagent") ? [SUBAGENTS] : []),
    ...(canAsk ? [ASK_PARENT] : []),
  ];
  return added.length === 0 ? tools : [...tools, ...added];
}
