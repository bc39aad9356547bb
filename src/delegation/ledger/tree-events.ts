/**
 * All events of a tree in one order: by time, and always a child's after its `child_start` and before its `child_end`.
 * An event without a time has that of the event before it.
 */

import type { RecordReader } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";

/** Keeps one page of each open log in memory, not whole logs. */
export async function* readTreeEvents(
  record: RecordReader,
  id: string,
): AsyncGenerator<LoggedEvent> {
  const open: Log[] = [];
  const add = async (run: string): Promise<void> => {
    const log = new Log(record, run);
    if (await log.advance()) open.push(log);
  };
  await add(id);
  for (;;) {
    const next = earliest(open);
    if (!next?.head) return;
    yield next.head;
    const { event } = next.head;
    if (!(await next.advance())) open.splice(open.indexOf(next), 1);
    if (event.type === "child_start") await add(event.child_id);
  }
}

class Log {
  readonly id: string;
  readonly #pages: AsyncGenerator<readonly LoggedEvent[]>;
  #page: readonly LoggedEvent[] = [];
  #at = 0;
  head: LoggedEvent | undefined;
  headAtMs = 0;

  constructor(record: RecordReader, id: string) {
    this.id = id;
    this.#pages = readLog(record, id);
  }

  /** Resolves to false when the log has ended. */
  async advance(): Promise<boolean> {
    if (this.#at === this.#page.length) {
      const { value, done } = await this.#pages.next();
      this.#page = done ? [] : value;
      this.#at = 0;
    }
    this.head = this.#page[this.#at++];
    if (!this.head) return false;
    const { event } = this.head;
    if (event.type === "run_start") this.headAtMs = event.created_at_ms;
    else if ("at_ms" in event) this.headAtMs = event.at_ms;
    return true;
  }
}

/** A `child_end` waits for the rest of its child, whatever the clocks of two processes say. */
function earliest(open: readonly Log[]): Log | undefined {
  let first: Log | undefined;
  for (const log of open) {
    if (isWaiting(log, open)) continue;
    if (!first || log.headAtMs < first.headAtMs) first = log;
  }
  return first;
}

function isWaiting({ head }: Log, open: readonly Log[]): boolean {
  if (head?.event.type !== "child_end") return false;
  const { child_id } = head.event;
  return open.some(({ id }) => id === child_id);
}
