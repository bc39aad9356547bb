/** Compacts the conversation of a run: its own model summarises it. */

import type { Compactor } from "../agent/context/create-keeper.ts";
import { createSummariser } from "../agent/context/summariser.ts";
import { createTurnCompactor, type TurnCompactorParts } from "../agent/context/turn-compactor.ts";
import type { LoopParts } from "../agent/loop-parts.ts";
import type { OpenedModel } from "./open-provider.ts";

export interface KeptRun
  extends Pick<LoopParts, "context" | "task" | "clock" | "account" | "backgroundChildren"> {
  readonly model: OpenedModel;
  readonly gate: Pick<LoopParts["gate"], "tools">;
  readonly nativeTools: LoopParts["nativeTools"];
}

export function openRunCompactor(
  { context, task, account, model, backgroundChildren }: KeptRun,
  bounds: Omit<TurnCompactorParts, "summariser">,
): Compactor {
  const { provider, contextTokens, costOf, tellsCost, reasoning } = model;
  const summariser = createSummariser({
    context,
    provider,
    account,
    costOf,
    tellsCost,
    contextTokens,
    reasoning,
    model: task.model.slice(task.model.indexOf("/") + 1),
    own: task.options ?? undefined,
    options: undefined,
    prepare: async () => await backgroundChildren?.restore(),
  });
  return createTurnCompactor({ summariser, ...bounds });
}
