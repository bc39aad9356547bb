/** What a run asks its model first, as far as its length goes. */

import type { Priced } from "../agent/call-cost.ts";
import { withReportWish } from "../agent/report.ts";
import type { AgentTask } from "../agent/task.ts";
import type { FunctionTool } from "../protocol/tools.ts";

export function toFirstRequest(task: AgentTask, specs: readonly FunctionTool[]): Priced {
  const { instructions, tools, max_output_tokens } = task;
  return {
    items: withReportWish(task),
    instructions: instructions ?? undefined,
    tools: specs.filter(({ name }) => tools.includes(name)),
    maxOutputTokens: max_output_tokens ?? undefined,
  };
}
