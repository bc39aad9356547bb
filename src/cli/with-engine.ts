import type { Engine } from "../engine/engine.ts";
import { openEngine } from "../engine/open-engine.ts";
import type { Kept } from "../store/kept.ts";

/** Works with an engine that runs nothing itself, over what a command has opened, which it leaves open. */
export async function withEngine<Out>(
  kept: Pick<Kept, "runs">,
  work: (engine: Engine) => Promise<Out>,
): Promise<Out> {
  const engine = await openEngine(kept, { isShared: true });
  try {
    return await work(engine);
  } finally {
    await engine.stop();
  }
}
