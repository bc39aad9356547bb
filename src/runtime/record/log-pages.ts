/** The log of a run in pages of the API: as many events as were asked for, or as fit into an answer. */

import type { Engine } from "../../engine/engine.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import { EVENT_CHARS, toEventViews } from "./event-view.ts";
import type { EventView, RecordPage } from "./views.ts";

export interface EventsWish {
  /** The last known event; -1 for none. */
  readonly after: number;
  readonly limit: number;
  /** Only events of these types; all when left out. */
  readonly types?: readonly string[] | undefined;
  /** The size of one event; `EVENT_CHARS` when left out. */
  readonly maxChars?: number | undefined;
}

/** The size of an answer; with one more event it stays below 2 MB, in whatever script it is written. */
const MAX_BYTES = 1_000_000;
const READ_EVENTS = 500;
/** The most deltas that are joined: an answer as long as a book is several events. */
const MAX_JOINED = 50_000;

/** A filtered page may be empty in the middle of a log: `next` says whether there is more. */
export async function readEventPage(
  engine: Pick<Engine, "record">,
  id: string,
  { after, limit, types, maxChars = EVENT_CHARS }: EventsWish,
): Promise<RecordPage<EventView>> {
  const data: EventView[] = [];
  let last = after;
  let bytes = 0;
  for await (const events of readWhole(engine, id, after)) {
    for (const view of toEventViews(events, maxChars)) {
      if (data.length >= limit || bytes >= MAX_BYTES)
        return { object: "list", data, next: String(last) };
      last = view.last_seq;
      if (types && !types.includes(view.type)) continue;
      bytes += Buffer.byteLength(JSON.stringify(view));
      data.push(view);
    }
  }
  return { object: "list", data, next: null };
}

/** The log in parts that end after the last delta of an item. */
async function* readWhole(
  { record }: Pick<Engine, "record">,
  id: string,
  after: number,
): AsyncGenerator<readonly LoggedEvent[]> {
  let open: readonly LoggedEvent[] = [];
  for (let last = after; ; ) {
    const read = await record.readEvents(id, last, READ_EVENTS);
    const events = [...open, ...read];
    last = events.at(-1)?.seq ?? last;
    open = read.length === 0 ? [] : takeOpen(events);
    yield events.slice(0, events.length - open.length);
    if (read.length === 0) return;
  }
}

/** The deltas at the end: more of them may follow. */
function takeOpen(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const isDelta = ({ event }: LoggedEvent): boolean => event.type.endsWith("_delta");
  const from = events.findLastIndex((logged) => !isDelta(logged)) + 1;
  return events.length - from > MAX_JOINED ? [] : events.slice(from);
}
