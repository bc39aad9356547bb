/** The tools of a run that delegate, made for it alone. */

import type { FunctionTool } from "../protocol/tools.ts";
import type { Tool } from "../tools/tool.ts";
import { withAgents } from "./agents/agent-spec.ts";
import type { DelegationNode } from "./node.ts";
import { ASK_PARENT_SPEC } from "./tools/ask-parent.ts";
import { CALL_SUBAGENT_SPEC, createCallSubagentTool } from "./tools/call-subagent.ts";
import type { DelegatingName } from "./tools/names.ts";
import {
  createParallelSubagentTool,
  type Surroundings,
  toParallelSpec,
} from "./tools/parallel-subagent.ts";
import { createSubagentTool, SUBAGENT_SPEC } from "./tools/subagent.ts";
import { createSubagentsTool, SUBAGENTS_SPEC } from "./tools/subagents.ts";

const TOOLS: Partial<Record<DelegatingName, (node: DelegationNode) => Tool>> = {
  subagent: createSubagentTool,
  call_subagent: createCallSubagentTool,
  parallel_subagent: createParallelSubagentTool,
};

/** What a model is told of all of them. */
export function listDelegatingSpecs(about: Surroundings): FunctionTool[] {
  return [
    ...[withAgents(SUBAGENT_SPEC, about.agents), CALL_SUBAGENT_SPEC, toParallelSpec(about)],
    ...[SUBAGENTS_SPEC, ASK_PARENT_SPEC],
  ];
}

/** Of the names of a run's tools, those that delegate. */
export function createDelegatingTools(node: DelegationNode, names: readonly string[]): Tool[] {
  const own = Object.entries(TOOLS).flatMap(([name, create]) =>
    names.includes(name) ? [create(node)] : [],
  );
  return names.includes("subagent") ? [...own, ...createSubagentsTool(node)] : own;
}
