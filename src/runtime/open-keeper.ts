/** Keeps the conversation of a run within its model's window. */

import type { ContextKeeper } from "../agent/context/context-keeper.ts";
import { type Compactor, createContextKeeper } from "../agent/context/create-keeper.ts";
import { toThreshold } from "../agent/context/threshold.ts";
import type { TurnCompactorParts } from "../agent/context/turn-compactor.ts";
import { EMBEDDED } from "../providers/models/model-ref.ts";
import type { KeptRun } from "./run-compactor.ts";

/** Undefined if the run is to end when its conversation is too long. */
export function openKeeper(run: KeptRun): ContextKeeper | undefined {
  const { task, clock, model } = run;
  const { provider, contextTokens } = model;
  // The embedded model follows plans and writes no text of its own, so it cannot summarise.
  if (task.compact !== "auto" || provider.name === EMBEDDED) return undefined;
  const { max_output_tokens, instructions } = task;
  const tools = [...run.gate.tools.map(({ spec }) => spec), ...(run.nativeTools ?? [])];
  const bounds = { contextTokens, max_output_tokens, instructions, tools };
  const threshold =
    contextTokens === undefined ? null : toThreshold(contextTokens, max_output_tokens);
  return createContextKeeper({
    keepsFor: "run",
    wish: { truncation: "disabled", compact_threshold: threshold },
    // What a vendor compacts itself goes back to it unchanged.
    expanding: { open: () => undefined, isNative: true },
    compactor: createLateCompactor(run, { clock, ...bounds }),
    ...bounds,
  });
}

/** Loaded by the first conversation that is too long: most runs have none. */
function createLateCompactor(
  run: KeptRun,
  bounds: Omit<TurnCompactorParts, "summariser">,
): Compactor {
  let opened: Promise<Compactor> | undefined;
  return {
    async compact(items, wish) {
      opened ??= import("./run-compactor.ts").then(({ openRunCompactor }) =>
        openRunCompactor(run, bounds),
      );
      return await (await opened).compact(items, wish);
    },
  };
}
