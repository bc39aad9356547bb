/** Makes the request of a turn from the task, what a client asks for, and how far the run has come. Pure. */

import type { Item } from "../protocol/items.ts";
import type { AnsweredBy } from "../protocol/model-events.ts";
import type { Tool } from "../protocol/tools.ts";
import type { ModelRequest, ReasoningOptions } from "../providers/provider.ts";
import type { Gate } from "../tools/gate/gate.ts";
import type { ContextKeeper } from "./context/context-keeper.ts";
import { toToolChoice } from "./report.ts";
import type { AgentTask } from "./task.ts";

interface RequestParts {
  readonly task: AgentTask;
  readonly gate: Pick<Gate, "tools">;
  readonly reasoning: ReasoningOptions;
  readonly nativeTools?: readonly Tool[] | undefined;
  readonly keeper?: ContextKeeper | undefined;
  readonly wishes?: RequestWishes | undefined;
}

/** Fields of a model request that a task does not have, in the spelling of the Responses API. */
export type AskedOfModel = Pick<
  ModelRequest,
  "parallel_tool_calls" | "top_p" | "options" | "extras" | "whole"
>;

export interface RequestWishes extends AskedOfModel {
  /** The tools to offer in place of the gate's. */
  readonly tools?: readonly Tool[] | undefined;
  readonly reasoning?: ReasoningOptions | undefined;
}

interface Asking {
  readonly items: readonly Item[];
  readonly turns: number;
  readonly previous: ModelRequest["previous"];
  readonly by: AnsweredBy | undefined;
  readonly isReporting: boolean;
}

export function toRequest(parts: RequestParts, progress: Asking): ModelRequest {
  const { task, gate, reasoning, wishes, keeper, nativeTools = [] } = parts;
  const { model } = task;
  const offered = wishes?.tools ?? [...gate.tools.map(({ spec }) => spec), ...nativeTools];
  return {
    model: model.slice(model.indexOf("/") + 1),
    instructions: task.instructions ?? undefined,
    items: [...(keeper?.fit(progress.items) ?? progress.items)],
    tools: offered,
    tool_choice: toToolChoice(task, progress, offered),
    parallel_tool_calls: wishes?.parallel_tool_calls,
    temperature: task.temperature ?? undefined,
    top_p: wishes?.top_p,
    max_output_tokens: task.max_output_tokens ?? undefined,
    reasoning: wishes?.reasoning ?? reasoning,
    format: task.format,
    previous: progress.previous,
    deployment: progress.by?.deployment,
    options: wishes?.options,
    own: task.options ?? undefined,
    extras: wishes?.extras,
    whole: wishes?.whole,
  };
}
