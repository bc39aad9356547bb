/** The plan of a task, with the tools and prices that the runtime knows. Sends nothing. */

import type { AgentTask } from "../agent/task.ts";
import { listDelegatingSpecs } from "../delegation/delegating-tools.ts";
import type { Plan } from "../delegation/plan.ts";
import { toPlan } from "../delegation/plan.ts";
import type { AgentParts } from "./agent-body.ts";
import type { ModelParts } from "./open-sign.ts";
import { toPlannedModel } from "./planned-model.ts";

interface PlanOptions extends Pick<ModelParts, "overrides" | "catalog"> {
  readonly timeoutMs: number | undefined;
}

export async function planRun(
  task: AgentTask,
  { toolbox, delegation: settings, agents = [] }: AgentParts,
  { timeoutMs, ...known }: PlanOptions,
): Promise<Plan> {
  const tools = await toolbox.pick(task.tools);
  return toPlan(task, {
    settings,
    agents,
    timeoutMs,
    specs: [...tools.map(({ spec }) => spec), ...listDelegatingSpecs({ agents, settings })],
    thresholdUsd: settings.planThresholdUsd,
    modelOf: (ref) => toPlannedModel(ref, task.url, known),
  });
}
