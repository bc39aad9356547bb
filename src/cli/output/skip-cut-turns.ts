/**
 * What a dead process said of a turn that starts again is no part of the answer: it is left out when
 * the log of a resumed run is shown from its beginning. It was paid for, so it is counted. Finished turns, live events and the runs below
 * it pass.
 */

import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import type { Projection } from "./output.ts";

/** Behind these a turn that is open starts again. */
const AGAIN: ReadonlySet<RunEvent["type"]> = new Set(["run_resume", "compaction"]);

/** `firstLive` is the number of the first event that was not in the log before. */
export function skipCutTurns(projection: Projection, firstLive: number): Projection {
  /** The turn being read, held back until its end is seen. */
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
