/**
 * The sessions of a runtime. A run that begins one loads nothing more; the rest is loaded by the first run that needs
 * it.
 */

import type { SessionPlace } from "../../agent/task.ts";
import type { Clock } from "../../base/clock.ts";
import type { Engine, RunContext } from "../../engine/engine.ts";
import type { Shelf } from "../../store/shelf.ts";
import { beginSession, type JoinedSession, type Joining } from "./begin-session.ts";
import type { Sessions, SessionWish } from "./session.ts";
import type { SessionBefore, SessionParts } from "./session-parts.ts";

export interface OpenedSessions {
  readonly sessions: Sessions;
  /** The place of a run in the session that it asks for. Its things are stored with the run. */
  join(wish: SessionWish, joining: Joining): Promise<JoinedSession>;
  /**
   * The items of a session before a run of it. Rejects with `conflict` if a takeover finds something else. Run code.
   */
  read(place: SessionPlace, context: RunContext): Promise<SessionBefore>;
}

interface Parts {
  readonly shelf: () => Promise<Shelf>;
  readonly clock: Clock;
  readonly engine: Engine;
  /** True if runs are kept in memory: their things are lost if no shelf was opened. */
  readonly isInMemory: boolean;
}

const NOTHING_BEFORE: SessionBefore = { before: [], opening: null };

export function openSessions({ shelf, clock, engine, isInMemory }: Parts): OpenedSessions {
  const toParts = async (): Promise<SessionParts> => ({
    shelf: await shelf(),
    clock,
    place: engine,
  });
  const load = async (): Promise<Sessions> => {
    const { createSessions } = await import("./sessions.ts");
    return createSessions(await toParts());
  };
  return {
    sessions: {
      list: async (query) => await (await load()).list(query),
      listPage: async (query) => await (await load()).listPage(query),
      get: async (name, options) => await (await load()).get(name, options),
      items: async (id) => await (await load()).items(id),
      turns: async (id) => await (await load()).turns(id),
      rename: async (id, title) => await (await load()).rename(id, title),
      delete: async (id) => await (await load()).delete(id),
      fork: async (id, options) => await (await load()).fork(id, options),
    },
    async join(wish, joining) {
      const isBegun = typeof wish === "object" && "begin" in wish;
      if (wish === "new" || isBegun) {
        if (isInMemory) await shelf();
        return beginSession(joining, isBegun ? wish.id : undefined);
      }
      const { continueSession } = await import("./go-on.ts");
      return await continueSession(await toParts(), wish, joining);
    },
    async read(place, context) {
      if (place.position === 0) return NOTHING_BEFORE;
      const { readBeforeRun } = await import("./read-before-run.ts");
      return await readBeforeRun(await shelf(), place, context);
    },
  };
}
