/** What a run asks its model first, as far as its length goes. */

import type { Priced } from "../agent/call-cost.ts";
import type { AgentTask } from "../agent/task.ts";
import type { FunctionTool } from "../protocol/tools.ts";

export function toFirstRequest(
  { instructions, items, tools, max_output_tokens }: AgentTask,
  specs: readonly FunctionTool[],
): Priced {
  return {
    items,
    instructions: instructions ?? undefined,
    tools: specs.filter(({ name }) => tools.includes(name)),
    maxOutputTokens: max_output_tokens ?? undefined,
  };
}
