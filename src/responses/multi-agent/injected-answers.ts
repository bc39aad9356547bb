/** The client's answers as they are left for the run of a team's head (`inject.ts`). */

import type { Item } from "../../protocol/items.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";

export const INJECT_TOPIC = "inject";

export interface InjectedAnswers {
  /** Names the message, and what becomes of it in the log. */
  readonly key: string;
  readonly items: readonly Item[];
}

/** The messages that the log tells of: a run that was taken over gets them again. */
export function findHandled(log: readonly LoggedEvent[]): Set<string> {
  const keys = log.map(({ event }) =>
    event.type === "client_input" || event.type === "client_refused" ? event.key : undefined,
  );
  return new Set(keys.filter((key) => key !== undefined));
}
