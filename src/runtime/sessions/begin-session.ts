/**
 * The first run of a session: what is written with it, in its transaction. Loads nothing, because every run of the
 * command line begins one.
 */

import type { SessionPlace } from "../../agent/task.ts";
import { makeId } from "../../base/ids.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import { toRunThings, toSessionThing } from "../../responses/conversations/session-things.ts";
import type { NewThing, ThingName } from "../../store/shelf.ts";
import type { ForkedFrom } from "./session.ts";

/** A run that is about to be written down. */
export interface Joining {
  readonly run: string;
  /** The folder it works in. */
  readonly folder: string;
  readonly title: string;
  readonly nowMs: number;
}

export interface JoinedSession {
  readonly place: SessionPlace;
  /** The things that are stored with the run. */
  readonly things: readonly NewThing[];
  /** What must exist when the run is stored; left out if it is stored with the run. */
  readonly needs?: readonly ThingName[] | undefined;
  readonly forked?: ForkedFrom | undefined;
  /** The id of the run before it that began here, whose prompt it continues with. */
  readonly after?: string | undefined;
  /** For a run that is not started after all. */
  undo?(): Promise<void>;
}

export function beginSession(
  { run, folder, title, nowMs }: Joining,
  id = makeId("conv"),
): JoinedSession {
  const name = { tenant: DEFAULT_TENANT, id };
  const session = toSessionThing({ ...name, title, folder, forked_from: null, nowMs });
  const things = [session, ...toRunThings(name, { run, folder }, nowMs)];
  return { place: { ...name, position: 0 }, things };
}
