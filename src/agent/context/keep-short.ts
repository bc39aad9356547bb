/** Where the loop has its conversation kept short: behind a turn, before one, and when a vendor refuses one. */

import { addUsage } from "../../protocol/usage.ts";
import { addCost } from "../call-cost.ts";
import { NOTHING_COUNTED, type Progress } from "../progress.ts";
import type { ContextKeeper, KeeperMoment, Used } from "./context-keeper.ts";

interface KeptRun {
  readonly keeper?: ContextKeeper | undefined;
}

/** Behind a turn, or before all, where a client is to go on with the shorter conversation. */
export async function compactBehind(parts: KeptRun, progress: Progress, used: Used): Promise<void> {
  await compact(parts, progress, { used, when: "behind", turn: progress.turns });
}

/** Before a turn: makes room for its answer. */
export async function makeRoom(parts: KeptRun, progress: Progress): Promise<void> {
  // Nothing may stand between the halves of one answer.
  if (progress.paused !== undefined) return;
  await compact(parts, progress, { used: usedOf(progress), when: "before", turn: progress.turns });
}

/** Of a turn that was refused as too long. True where there is a shorter conversation to ask with. */
export async function shortenRefused(parts: KeptRun, progress: Progress): Promise<boolean> {
  const asked = { used: usedOf(progress), when: "refused", turn: progress.turns - 1 } as const;
  return await compact(parts, progress, asked);
}

function usedOf({ counted, items }: Progress): Used {
  return { usage: counted.usage, since: items.slice(counted.items) };
}

interface Asked extends Pick<KeeperMoment, "when" | "turn"> {
  readonly used: Used;
}

async function compact(
  { keeper }: KeptRun,
  progress: Progress,
  { used, when, turn }: Asked,
): Promise<boolean> {
  const { items: before, task } = progress;
  const compacted = await keeper?.compact(before, used, { when, turn, task });
  if (!compacted) return false;
  const { items, answer } = compacted;
  progress.items = [...items];
  progress.previous = undefined;
  progress.counted = NOTHING_COUNTED;
  progress.usage = addUsage(progress.usage, answer.usage);
  progress.costUsd = addCost(progress.costUsd, answer.cost_usd);
  // That it filled the window is no longer so.
  progress.notices = progress.notices.filter(({ code }) => code !== "context");
  return true;
}
