/** The part of a session that a model is sent: everything up to the run, or what the last summary left of it. */

import type { SessionPlace } from "../../agent/task.ts";
import type { RunContext } from "../../engine/engine.ts";
import { lookAgain } from "../../engine/run-code.ts";
import type { Item } from "../../protocol/items.ts";
import { readItems } from "../../responses/conversations/items.ts";
import { sinceSummary } from "../../responses/conversations/run-items.ts";
import { encodeOpening, holdToPast, readOpening } from "../../responses/run/past-opening.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { SessionBefore } from "./session-parts.ts";

/** Run code. The journal has a mark of it: after a takeover the run continues with the same items, or not at all. */
export async function readBeforeRun(
  shelf: Shelf,
  place: SessionPlace,
  context: RunContext,
): Promise<SessionBefore> {
  const before = await lookAgain(context.id, () => readPlace(shelf, place));
  holdToPast(readOpening(context), before);
  return { before, opening: encodeOpening({ before, offers: [] }) };
}

async function readPlace(
  shelf: Shelf,
  { tenant, id, position }: SessionPlace,
): Promise<readonly Item[]> {
  const { items } = await readItems({ shelf }, tenant, id, position);
  // A compaction of the API is sealed by its server. What it stands for is in the conversation, whole.
  return sinceSummary(items.filter(({ type }) => type !== "compaction"));
}
