/**
 * Copies what the ended runs of a session said to its items, where the API and the next run read it. The log is the
 * truth. The copy is made when it is first needed, and is the same whichever process makes it.
 */

import type { Clock } from "../../base/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import type { Item } from "../../protocol/items.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import { STORED_ITEM } from "../../protocol/stored-items.ts";
import type { NewThing, Shelf } from "../../store/shelf.ts";
import { idPrefixOf } from "../fold/emitted-item.ts";
import { nameConversation } from "./conversation-name.ts";
import { NOT_KEPT, nameItem } from "./new-items.ts";
import { isOfItems, toRunItems } from "./run-items.ts";
import { isComing, listUnkept, nameUnkept } from "./session-things.ts";

export interface KeepParts {
  readonly shelf: Shelf;
  readonly clock: Clock;
  readonly place: Pick<Engine, "status" | "record">;
}

/** Runs at work are left for later. May be repeated, also by several processes at once. */
export async function keepRuns(parts: KeepParts, tenant: string, id: string): Promise<void> {
  const { shelf, place, clock } = parts;
  for (const unkept of await listUnkept(shelf, { tenant, id })) {
    const { run } = unkept;
    const status = await place.status(run);
    if (status?.status === "running" || (!status && isComing(unkept, clock.now()))) continue;
    if (status) {
      const items = await readRunItems(place.record, run);
      const things = toThings(parts, { tenant, id }, { run, items });
      await shelf.putUnder(nameConversation(tenant, id), things);
    }
    // After a crash before this line, the same is done again, which changes nothing.
    await shelf.removeAll([nameUnkept({ tenant, id }, run)], "process");
  }
}

/**
 * The items that a run added to its conversation, from its log; of a killed run, what it had finished.
 */
export async function readRunItems(record: Engine["record"], run: string): Promise<Item[]> {
  const log: RunEvent[] = [];
  for await (const page of readLog(record, run)) {
    for (const { event } of page) if (isOfItems(event)) log.push(event);
  }
  return toRunItems(log);
}

interface RunItems {
  readonly run: string;
  readonly items: readonly Item[];
}

/** Named by the run and the item's index: servers use one id for several items. */
function toThings(
  { clock }: KeepParts,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  { run, items }: RunItems,
): NewThing[] {
  const conversation = nameConversation(tenant, id);
  const rest = { parent: id, created_at_ms: clock.now(), expires_at_ms: null };
  const kept = items.filter(({ type }) => !NOT_KEPT.has(type));
  return kept.map((item, at) => {
    const own = `${idPrefixOf(item.type)}_${run.slice(run.indexOf("_") + 1)}_${at}`;
    return { ...nameItem(conversation, own), ...rest, body: STORED_ITEM.write(item) };
  });
}

/**
 * The things of a conversation that begins with these items: a fork, or the continuation of a response.
 */
export function toCopiedThings(
  parts: KeepParts,
  conversation: { readonly tenant: string; readonly id: string },
  items: readonly Item[],
): NewThing[] {
  return toThings(parts, conversation, { run: conversation.id, items });
}
