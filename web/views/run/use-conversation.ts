/**
 * Reads the log of a run for its conversation, and continues with the events of the run's stream.
 */

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { get, messageOf, runPath } from "../../core/api.ts";
import { session } from "../../core/session.ts";
import type { EventView, RecordPage } from "../../core/views.ts";
import {
  type ConversationStore,
  createConversationStore,
  HISTORY_TYPES,
} from "./conversation-store.ts";
import type { RunStream } from "./run-stream.ts";

const PAGE = 400;
/** Events that are read automatically; more on a click. */
const MOST_EVENTS = 6000;

export interface ReadConversation {
  readonly store: ConversationStore;
  readonly problem: Signal<string>;
  /** True if the log has more than was read. */
  readonly hasMore: Signal<boolean>;
  readonly isRead: Signal<boolean>;
  more(): void;
}

export function useConversation(run: string, stream: RunStream): ReadConversation {
  const store = useMemo(() => createConversationStore(run), [run]);
  const problem = useSignal("");
  const hasMore = useSignal(false);
  const isRead = useSignal(false);
  const limit = useSignal(MOST_EVENTS);
  const token = session.value?.token;
  const opened = stream.opened.value;
  useEffect(() => {
    if (token === undefined) return;
    const stop = new AbortController();
    const meanwhile: EventView[] = [];
    let isWhole = false;
    const unlisten = stream.listen((events) => {
      if (isWhole) store.add(events);
      else meanwhile.push(...events);
    }, run);
    void readHistory(run, store, { most: limit.value, signal: stop.signal }).then(
      (whole) => {
        problem.value = "";
        isRead.value = true;
        hasMore.value = !whole;
        isWhole = whole;
        if (whole) store.add(meanwhile);
      },
      (failure: unknown) => {
        if (!stop.signal.aborted) problem.value = messageOf(failure);
      },
    );
    return () => {
      stop.abort();
      unlisten();
    };
  }, [run, store, stream, opened, token, limit.value, limit, problem, hasMore, isRead]);
  return {
    store,
    problem,
    hasMore,
    isRead,
    more() {
      limit.value += MOST_EVENTS;
    },
  };
}

interface Reading {
  readonly most: number;
  readonly signal: AbortSignal;
}

/**
 * Continues after the events that are already there. Resolves with false if there are more than requested.
 */
async function readHistory(
  run: string,
  store: ConversationStore,
  { most, signal }: Reading,
): Promise<boolean> {
  const path = `${runPath(run)}/events`;
  let after: string | null = String(store.seen);
  for (let read = 0; after !== null; ) {
    if (read >= most) return false;
    const query = { after, limit: PAGE, types: HISTORY_TYPES };
    const page: RecordPage<EventView> = await get<RecordPage<EventView>>(path, query, signal);
    store.add(page.data);
    read += page.data.length;
    after = page.next;
  }
  // The model's present output follows the last of these, as deltas.
  const tail = await get<RecordPage<EventView>>(path, { after: store.seen, limit: PAGE }, signal);
  store.add(tail.data);
  return true;
}
