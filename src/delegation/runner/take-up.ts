/** Continues a child that another process has begun. */

import type { Clock } from "../../base/clock.ts";
import { toFailure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";

/** The process of a child whose parent died exits within seconds; then its run can be continued. */
const TRIES = 100;
const PAUSE_MS = 100;

/**
 * Resolves to true if there was such a run: then it has ended, or runs here. Rejects while another process runs it.
 */
export async function takeUp(engine: Engine, id: string, clock: Clock): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    const stored = await engine.status(id);
    if (!stored) return false;
    if (stored.status === "ended") return true;
    try {
      await engine.resume(id);
      return true;
    } catch (thrown) {
      const failure = toFailure(thrown);
      if (failure.code !== "conflict" || tries >= TRIES) throw failure;
    }
    await clock.sleep(PAUSE_MS, undefined);
  }
}
