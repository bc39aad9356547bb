/**
 * Opens the engine over what is kept: the one place that takes the engine's half out of a record. Code with the engine
 * needs no store, and code that only reads has `KeptRecord.record`.
 */

import type { KeptRecord } from "../store/kept.ts";
import type { Engine } from "./engine.ts";
import { createLocalEngine } from "./local-engine.ts";
import type { LocalEngineOptions } from "./local-engine-options.ts";

interface OpenOptions extends Pick<LocalEngineOptions, "clock" | "observe" | "isShared"> {
  /** Where DBOS executes the runs (`toDbosPlace`); this process does when left out. */
  readonly dbos?: { readonly address: string } | undefined;
}

/** Its `stop` closes the store, unless other parts use it, too (`isShared`). */
export async function openEngine(
  kept: Pick<KeptRecord, "runs">,
  { dbos: place, ...options }: OpenOptions = {},
): Promise<Engine> {
  const store = await kept.runs();
  if (!place) return createLocalEngine({ ...options, store });
  try {
    const { openDbosEngine } = await import("./dbos/dbos-engine.ts");
    return await openDbosEngine({ ...options, store, place });
  } catch (thrown) {
    // Its connections would keep the failing process alive.
    if (!options.isShared) await store.close();
    throw thrown;
  }
}
