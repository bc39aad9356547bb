/** Writes a line of JSON for each event of any run of a tree, with its run, that run's parent and its place. */

import type { LoggedEvent } from "../../protocol/run-events.ts";

/** Events of a run come in order, its `run_start` first; those of several may be mixed. */
export function createJsonLines(): (logged: LoggedEvent) => string {
  const places = new Map<string, { parent_id: string | null; path: string }>();
  return ({ run_id, seq, event }) => {
    if (event.type === "run_start") {
      places.set(run_id, { parent_id: event.parent_id, path: event.path });
    }
    const { parent_id, path } = places.get(run_id) ?? { parent_id: null, path: "/root" };
    if (event.type === "run_end") places.delete(run_id);
    return `${JSON.stringify({ run_id, parent_id, path, seq, ...event })}\n`;
  };
}
