/**
 * Stores the results when a stored run has answered: its output, the index of its items, and in a conversation the
 * items themselves. With `store: false` a conversation is read and not extended. Run code: what goes to a
 * conversation is one repeatable step, the rest is written with the ending; an interrupted run writes nothing.
 */

import { Failure } from "../../base/failure.ts";
import type { RunContext, RunOutcome } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { Ending, RunEvent } from "../../protocol/run-events.ts";
import type { NewThing } from "../../store/shelf.ts";
import { appendItems } from "../conversations/items.ts";
import { createEventWriter } from "../fold/event-writer.ts";
import { toResponseId } from "../fold/response-object.ts";
import { withoutWrittenDeltas } from "../fold/written-deltas.ts";
import { toOutputThings } from "../kept/kept-output.ts";
import { ENTRIES_AT_ONCE, type ItemHome, putEntries, toEntries } from "../references/item-index.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

/** Endings whose answers are added to a conversation: complete ones, and those that a limit truncated. */
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

/** Returns the things that are stored with the ending. */
export async function keepOutput(kept: ShelfParts, ended: Ended): Promise<readonly NewThing[]> {
  const { wish, context, outcome } = ended;
  const { conversation, tenant, store } = wish;
  // No step can begin in a cancelled run; its output is still in its log.
  if (context.signal.aborted || !store) return [];
  const { input, said } = await readItems(ended);
  const parent = toResponseId(context.id);
  const nowMs = toEndMs(outcome);
  const items = [...input, ...said];
  const home = { tenant, parent, kind: "response" } as const;
  const things = [
    ...(await putMany(kept, context, home, toEntries(home, items, nowMs))),
    ...toOutputThings(tenant, parent, said, nowMs),
  ];
  if (!conversation || !ANSWERS.has(outcome.ending)) return things;
  const { id } = conversation;
  const isThere = await context.step("keep", async (step) => {
    step.end([], "process");
    return await append(kept, { tenant, id }, items);
  });
  if (!isThere) return things;
  const other = { tenant, parent: id, kind: "conversation" } as const;
  return [...things, ...(await putMany(kept, context, other, toEntries(other, items, nowMs)))];
}

/**
 * Returns the index entries that go with the ending. If there are many, they are stored before, a limited number at a
 * time.
 */
async function putMany(
  { shelf }: ShelfParts,
  context: RunContext,
  home: ItemHome,
  entries: readonly NewThing[],
): Promise<readonly NewThing[]> {
  if (entries.length <= ENTRIES_AT_ONCE) return entries;
  await context.step(`index:${home.parent}`, async (step) => {
    await putEntries(shelf, home, entries);
    step.end([], "process");
    return null;
  });
  return [];
}

/** Run code does not read the clock: the time is that of its ending. */
function toEndMs({ events }: RunOutcome): number {
  const end = events.find((event) => event.type === "run_end");
  return end?.at_ms ?? 0;
}

interface ReadItems {
  /** The request's items. */
  readonly input: readonly Item[];
  /** All output items. */
  readonly said: readonly Item[];
}

async function readItems({ context, outcome }: Ended): Promise<ReadItems> {
  const writer = createEventWriter({ everything: true });
  const input: Item[] = [];
  const write = (events: readonly RunEvent[]): void => {
    for (const event of withoutWrittenDeltas(events)) {
      if (event.type === "run_start") input.push(...event.input);
      writer.write(event);
    }
  };
  for await (const page of context.logPages()) write(page.map(({ event }) => event));
  write(outcome.events);
  return { input, said: writer.said() };
}

/**
 * An answer does not fail because its conversation was deleted meanwhile: this then returns false.
 */
async function append(
  kept: ShelfParts,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  items: readonly Item[],
): Promise<boolean> {
  try {
    await appendItems(kept, tenant, id, items);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "not_found") throw thrown;
    return false;
  }
}
