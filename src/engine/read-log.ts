/** The log of a run, read from the record. */

import type { LoggedEvent } from "../protocol/run-events.ts";
import type { RecordReader } from "./engine.ts";

type LogReader = Pick<RecordReader, "readEvents">;

const PAGE_EVENTS = 1000;

/** A page at a time: a log may be as long as several answers. */
export async function* readLog(
  record: LogReader,
  id: string,
): AsyncGenerator<readonly LoggedEvent[]> {
  for (let last = -1; ; ) {
    const page = await record.readEvents(id, last, PAGE_EVENTS);
    if (page.length === 0) return;
    last += page.length;
    yield page;
  }
}

export async function readWholeLog(record: LogReader, id: string): Promise<LoggedEvent[]> {
  const log: LoggedEvent[] = [];
  for await (const page of readLog(record, id)) for (const logged of page) log.push(logged);
  return log;
}
