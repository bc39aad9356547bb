/**
 * Leaves out a turn that a dead process began and that starts again, when the log of a resumed run is shown from its
 * beginning: it is not part of the answer. It was paid for, so it is counted. Finished turns, live events and the
 * runs below it are shown.
 */

import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import type { Projection } from "./projection.ts";

/** After these events, an open turn starts again. */
const AGAIN: ReadonlySet<RunEvent["type"]> = new Set(["run_resume", "compaction"]);

/** `firstLive` is the number of the first event that was not in the log before. */
export function skipCutTurns(projection: Projection, firstLive: number): Projection {
  /** The turn being read, withheld until its end is seen. */
  let open: LoggedEvent[] | undefined;
  let root: string | undefined;

  function skip(): void {
    if (open) projection.count?.(open);
    open = undefined;
  }

  function read(logged: LoggedEvent): readonly LoggedEvent[] {
    root ??= logged.run_id;
    if (logged.run_id !== root) return [logged];
    const { type } = logged.event;
    if (logged.seq >= firstLive || AGAIN.has(type)) skip();
    else if (type === "turn_start") {
      skip();
      open = [];
    }
    if (!open) return [logged];
    open.push(logged);
    if (type !== "turn_end") return [];
    const turn = open;
    open = undefined;
    return turn;
  }

  return {
    async write(events) {
      const shown = events.flatMap(read);
      if (shown.length > 0) await projection.write(shown);
    },
    hasToldWhy: () => projection.hasToldWhy?.() ?? false,
    close: () => projection.close?.(),
  };
}
