import { createMemoryStore } from "../store/memory/memory-store.ts";
import type { Engine } from "./engine.ts";
import { createLocalEngine } from "./local-engine.ts";
import type { LocalEngineOptions } from "./local-engine-options.ts";

/** An engine whose runs leave nothing: they are gone with its process. */
export function createMemoryEngine(options: Pick<LocalEngineOptions, "clock"> = {}): Engine {
  return createLocalEngine({ ...options, store: createMemoryStore() });
}
