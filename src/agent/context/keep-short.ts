/**
 * The moments at which the loop has its conversation shortened: after a turn, before a turn, and when a vendor refuses
 * one.
 */

import { addUsage } from "../../protocol/usage.ts";
import { addCost } from "../call-estimate.ts";
import { NOTHING_COUNTED, type RunProgress } from "../progress.ts";
import type { ContextKeeper, KeeperMoment, UsedContext } from "./context-keeper.ts";

interface KeptRun {
  readonly keeper?: ContextKeeper | undefined;
}

/** Compacts after a turn, or before all turns, if a client is to continue with the shorter conversation. */
export async function compactAfter(
  parts: KeptRun,
  progress: RunProgress,
  used: UsedContext,
): Promise<void> {
  await compact(parts, progress, { used, when: "after", turn: progress.turns });
}

/** Before a turn: makes room for its answer. */
export async function makeRoom(parts: KeptRun, progress: RunProgress): Promise<void> {
  // Nothing may stand between the halves of one answer.
  if (progress.paused !== undefined) return;
  await compact(parts, progress, { used: usedOf(progress), when: "before", turn: progress.turns });
}

/** After a turn was refused as too long. Returns true if there is a shorter conversation to ask with. */
export async function shortenRefused(parts: KeptRun, progress: RunProgress): Promise<boolean> {
  const asked = { used: usedOf(progress), when: "refused", turn: progress.turns - 1 } as const;
  return await compact(parts, progress, asked);
}

function usedOf({ counted, items }: RunProgress): UsedContext {
  return { usage: counted.usage, since: items.slice(counted.items) };
}

interface Asked extends Pick<KeeperMoment, "when" | "turn"> {
  readonly used: UsedContext;
}

async function compact(
  { keeper }: KeptRun,
  progress: RunProgress,
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
  // The warning that the conversation nearly fills the window no longer applies.
  progress.notices = progress.notices.filter(({ code }) => code !== "context");
  return true;
}
