/** Reads the children of a run from its log. Pure. */

import type { JsonObject } from "../base/json.ts";
import type { ChildStart, LoggedEvent } from "../protocol/run-events.ts";

/** All children, with their state or ending; `asks` is what one of them waits for. */
export function listChildren(
  log: readonly LoggedEvent[],
  asks: (id: string) => string | undefined,
): JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const { event } of log) {
    if (event.type !== "child_start" && event.type !== "child_end") continue;
    const { child_id: id, label } = event;
    const question = asks(id);
    const open = question === undefined ? { status: "running" } : { status: "asks", question };
    found.set(id, { id, label, ...(event.type === "child_end" ? { status: event.ending } : open) });
  }
  return [...found.values()];
}

/** One child, as the log of its parent describes it. */
export function readChild(
  id: string,
  log: readonly LoggedEvent[],
): { readonly start: ChildStart | undefined; readonly hasEnded: boolean } {
  const at = log.findLastIndex(
    ({ event }) => event.type === "child_start" && event.child_id === id,
  );
  const start = log[at]?.event;
  const hasEnded = log
    .slice(at + 1)
    .some(({ event }) => event.type === "child_end" && event.child_id === id);
  return { start: start?.type === "child_start" ? start : undefined, hasEnded };
}
