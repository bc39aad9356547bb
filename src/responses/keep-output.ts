/**
 * What is written down when a stored run has answered: where its items are, and in a conversation the
 * items themselves. With `store: false` a conversation is read and not added to. Run code: one step,
 * repeatable; a run that was cut short writes nothing.
 */

import { Failure } from "../base/failure.ts";
import type { RunContext, RunOutcome } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import type { Ending } from "../protocol/run-events.ts";
import { appendItems } from "./conversations/items.ts";
import { createEventWriter } from "./fold/event-writer.ts";
import { toResponseId } from "./fold/response-object.ts";
import { indexItems } from "./references/item-index.ts";
import type { ResponseWish } from "./request/response-wish.ts";
import type { ShelfParts } from "./shelf-parts.ts";

/** Answers that belong to a conversation: whole ones, and those that a limit cut. */
const ANSWERS: ReadonlySet<Ending> = new Set<Ending>([
  "completed",
  "max_turns",
  "budget",
  "refused",
  "timeout",
]);

export interface Ended {
  readonly wish: ResponseWish;
  readonly context: RunContext;
  readonly outcome: RunOutcome;
}

export async function keepOutput(kept: ShelfParts, ended: Ended): Promise<void> {
  const { wish, context, outcome } = ended;
  const { conversation, tenant, store } = wish;
  // No step can begin in a run that was cancelled; what it said is in its log all the same.
  if (context.signal.aborted || !store) return;
  await context.step("keep", async () => {
    const items = await readItems(ended);
    const parent = toResponseId(context.id);
    await indexItems(kept, { tenant, parent, kind: "response" }, items);
    if (conversation && ANSWERS.has(outcome.ending)) {
      await append(kept, { tenant, id: conversation.id }, items);
    }
    return null;
  });
}

/** What was sent, and all that came of it. */
async function readItems({ context, outcome }: Ended): Promise<Item[]> {
  const writer = createEventWriter({ everything: true });
  const input: Item[] = [];
  for (const { event } of await context.readLog()) {
    if (event.type === "run_start") input.push(...event.input);
    writer.write(event);
  }
  for (const event of outcome.events) writer.write(event);
  return [...input, ...writer.said()];
}

/** An answer does not fail because its conversation was deleted meanwhile. */
async function append(
  kept: ShelfParts,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  items: readonly Item[],
): Promise<void> {
  try {
    await appendItems(kept, tenant, id, items);
    await indexItems(kept, { tenant, parent: id, kind: "conversation" }, items);
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "not_found") throw thrown;
  }
}
