/** What a model is asked with of a session: all up to the run, or what the last summary left of it. */

import type { SessionPlace } from "../../agent/task.ts";
import type { Item } from "../../protocol/items.ts";
import { readItems } from "../../responses/conversations/items.ts";
import { sinceSummary } from "../../responses/conversations/run-items.ts";
import type { Shelf } from "../../store/shelf.ts";

export async function readBeforeRun(
  shelf: Shelf,
  { tenant, id, position }: SessionPlace,
): Promise<readonly Item[]> {
  const { items } = await readItems({ shelf }, tenant, id, position);
  // A compaction of the API is sealed by its server. What it stands for is in the conversation, whole.
  return sinceSummary(items.filter(({ type }) => type !== "compaction"));
}
