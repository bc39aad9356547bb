/**
 * The engine over what is kept: the one place where the engine's half of a record is taken out of it. Whoever
 * has the engine needs no store, and whoever only reads has `Kept.record`.
 */

import type { Kept } from "../store/kept.ts";
import type { Engine } from "./engine.ts";
import { createLocalEngine } from "./local-engine.ts";
import type { LocalEngineOptions } from "./local-engine-options.ts";

interface OpenOptions extends Pick<LocalEngineOptions, "clock" | "observe" | "isShared"> {
  /** Where DBOS executes the runs (`toDbosPlace`); this process does when left out. */
  readonly dbos?: { readonly address: string } | undefined;
}

/** Its `stop` closes what runs are kept in, unless others use it, too (`isShared`). */
export async function openEngine(
  kept: Pick<Kept, "runs">,
  { dbos: place, ...options }: OpenOptions = {},
): Promise<Engine> {
  const store = await kept.runs();
  if (!place) return createLocalEngine({ ...options, store });
  try {
    const { openDbosEngine } = await import("./dbos/dbos-engine.ts");
    return await openDbosEngine({ ...options, store, place });
  } catch (thrown) {
    // Its connections would keep the process that is told so.
    if (!options.isShared) await store.close();
    throw thrown;
  }
}
