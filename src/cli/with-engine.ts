import type { Engine } from "../engine/engine.ts";
import { openEngine } from "../engine/open-engine.ts";
import type { KeptRecord } from "../store/kept.ts";

/**
 * Works with an engine that runs nothing itself, over the stores that a command has opened, and leaves them open.
 */
export async function withEngine<Out>(
  kept: Pick<KeptRecord, "runs">,
  work: (engine: Engine) => Promise<Out>,
): Promise<Out> {
  const engine = await openEngine(kept, { isShared: true });
  try {
    return await work(engine);
  } finally {
    await engine.stop();
  }
}
