/** The tools of a run that delegate, made for it alone. */

import type { Tool } from "../tools/tool.ts";
import type { DelegationNode } from "./node.ts";
import { createCallSubagentTool } from "./tools/call-subagent.ts";
import type { DelegatingName } from "./tools/names.ts";
import { createParallelSubagentTool } from "./tools/parallel-subagent.ts";
import { createSubagentTool } from "./tools/subagent.ts";

const TOOLS: Partial<Record<DelegatingName, (node: DelegationNode) => Tool>> = {
  subagent: createSubagentTool,
  call_subagent: createCallSubagentTool,
  parallel_subagent: createParallelSubagentTool,
};

/** Of the names of a run's tools, those that delegate. */
export function createDelegatingTools(node: DelegationNode, names: readonly string[]): Tool[] {
  return Object.entries(TOOLS).flatMap(([name, create]) =>
    names.includes(name) ? [create(node)] : [],
  );
}
