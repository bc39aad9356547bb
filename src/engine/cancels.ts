/**
 * Cancelling between processes. Whoever wants a run ended that another process owns leaves a message;
 * every owner looks for messages to its runs, all at once, for as long as it has any. The message stays:
 * should the owner die before it looks, whoever takes the run over finds it.
 */

import type { Clock } from "../base/clock.ts";
import { isJsonObject, type Json } from "../base/json.ts";
import type { Mailbox } from "../store/mailbox.ts";

const TOPIC = "@cancel";
/** What a person who cancels waits at most; a look takes some hundredths of a millisecond. */
const LOOK_MS = 250;

export interface Cancel {
  readonly id: string;
  readonly tree: boolean;
}

/** Leaves the message. Twice is once. */
export function askToCancel(store: Mailbox, { id, tree }: Cancel): Promise<void> {
  return store.putSignal(id, { topic: TOPIC, key: "cancel", body: { tree } });
}

export async function findCancels(store: Mailbox, owner: string): Promise<Cancel[]> {
  const found = await store.findSignals(owner, TOPIC);
  return found.map(({ run_id, body }) => ({ id: run_id, tree: isTree(body) }));
}

function isTree(body: Json): boolean {
  return isJsonObject(body) && body["tree"] === true;
}

export interface CancelWatch {
  /** Looks until `pause`; a second time is as once. */
  begin(): void;
  pause(): void;
}

interface WatchParts {
  readonly store: Mailbox;
  readonly clock: Clock;
  readonly owner: string;
  /** Told of the same run again and again, until it has ended. */
  readonly onCancel: (cancel: Cancel) => void;
}

export function createCancelWatch(parts: WatchParts): CancelWatch {
  let watching: AbortController | undefined;
  return {
    begin() {
      if (watching) return;
      watching = new AbortController();
      void look(parts, watching.signal);
    },
    pause() {
      watching?.abort();
      watching = undefined;
    },
  };
}

async function look(
  { store, clock, owner, onCancel }: WatchParts,
  end: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await clock.sleep(LOOK_MS, end);
    } catch {
      return;
    }
    // A store that is busy is looked at again; one that stays broken shows in the runs' own writes.
    const found = await findCancels(store, owner).catch(() => []);
    if (end.aborted) return;
    for (const cancel of found) onCancel(cancel);
  }
}
