/**
 * Cancelling between processes. To end a run that another process owns, a process leaves a message; every owner looks
 * for messages to all its runs at once, as long as it has any. The message stays: if the owner dies before it looks,
 * the next owner finds it.
 */

import { WAIT_OVER } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import { isJsonObject, type Json } from "../base/json.ts";
import type { Mailbox } from "../store/mailbox.ts";

const TOPIC = "@cancel";
/** The longest wait of a person who cancels; a look takes some hundredths of a millisecond. */
const LOOK_MS = 250;

export interface Cancel {
  readonly id: string;
  readonly tree: boolean;
}

/** Leaves the message. A second message changes nothing. */
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
  /** Looks until `pause`; a second call changes nothing. */
  begin(): void;
  pause(): void;
}

interface WatchParts {
  readonly store: Mailbox;
  readonly clock: Clock;
  readonly owner: string;
  /** Called for the same run again and again, until it has ended. */
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
      watching?.abort(WAIT_OVER);
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
    // A busy store is asked again; if it stays broken, the runs' own writes fail.
    const found = await findCancels(store, owner).catch(() => []);
    if (end.aborted) return;
    for (const cancel of found) onCancel(cancel);
  }
}
