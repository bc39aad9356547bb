/** Estimates the length of a run's first request. */

import type { Priced } from "../agent/call-estimate.ts";
import { withReportWish } from "../agent/report.ts";
import type { AgentTask } from "../agent/task.ts";
import type { FunctionTool } from "../protocol/tools.ts";
import { withCompanions } from "./tools/names.ts";

export function toFirstRequest(task: AgentTask, specs: readonly FunctionTool[]): Priced {
  const { instructions, tools, max_output_tokens, can_ask = false } = task;
  const named = withCompanions(tools, can_ask);
  return {
    items: withReportWish(task),
    instructions: instructions ?? undefined,
    tools: specs.filter(({ name }) => named.includes(name)),
    max_output_tokens: max_output_tokens ?? undefined,
  };
}
