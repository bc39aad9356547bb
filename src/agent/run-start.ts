/** Writes the first event of a run's log: what the run really works with. */

import type { JsonObject } from "../base/json.ts";
import type { RunContext } from "../engine/engine.ts";
import { joinOptions } from "../protocol/own-options.ts";
import type { RunStart } from "../protocol/run-events.ts";
import type { AgentTask } from "./task.ts";

interface Starting {
  readonly context: Pick<RunContext, "id" | "parent_id" | "path">;
  readonly task: AgentTask;
  /** The wishes of a Responses API request; undefined for other runs. */
  readonly wishes?:
    | { readonly response: JsonObject; readonly extras?: JsonObject | undefined }
    | undefined;
  /** Fields that the settings add to each request. */
  readonly own?: JsonObject | undefined;
}

export function toRunStart({ context, task, wishes, own }: Starting, nowMs: number): RunStart {
  const { id, parent_id, path } = context;
  const options = joinOptions(joinOptions(own, wishes?.extras), task.options);
  return {
    type: "run_start",
    run_id: id,
    parent_id,
    path,
    created_at_ms: nowMs,
    settings: {
      model: task.model,
      model_reason: task.model_reason,
      instructions: task.instructions,
      tools: task.tools,
      max_turns: task.max_turns,
      temperature: task.temperature,
      max_output_tokens: task.max_output_tokens,
      think: task.think,
      ...(task.effort === undefined ? {} : { effort: task.effort }),
      format: task.format,
      approve: task.approve,
      sandbox: task.sandbox,
      grant: task.grant as readonly JsonObject[],
      limits: { ...task.limits },
      label: task.label,
      depth: task.depth,
      ...(options ? { options } : {}),
      ...(wishes ? { response: wishes.response } : {}),
      ...(task.session ? { session: task.session.id } : {}),
      ...(task.told ? { told: task.told } : {}),
    },
    input: task.items,
  };
}
