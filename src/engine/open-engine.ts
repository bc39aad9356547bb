/**
 * The engine over what is kept: the one place where the engine's half of a record is taken out of it. Whoever
 * has the engine needs no store, and whoever only reads has `Kept.record`.
 */

import type { Kept } from "../store/kept.ts";
import type { Engine } from "./engine.ts";
import { createLocalEngine } from "./local-engine.ts";
import type { LocalEngineOptions } from "./local-engine-options.ts";

type OpenOptions = Pick<LocalEngineOptions, "clock" | "observe" | "isShared">;

/** Its `stop` closes what runs are kept in, unless others use it, too (`isShared`). */
export async function openEngine(
  kept: Pick<Kept, "runs">,
  options: OpenOptions = {},
): Promise<Engine> {
  return createLocalEngine({ ...options, store: await kept.runs() });
}
