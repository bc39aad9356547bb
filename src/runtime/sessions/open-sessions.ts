/** The sessions of a runtime. A run that begins one loads nothing more; the rest comes with the first that needs it. */

import type { SessionPlace } from "../../agent/task.ts";
import type { Clock } from "../../base/clock.ts";
import type { Engine, RunContext } from "../../engine/engine.ts";
import type { Shelf } from "../../store/shelf.ts";
import { beginSession, type JoinedSession, type Joining } from "./begin-session.ts";
import type { Sessions, SessionWish } from "./session.ts";
import type { SessionBefore, SessionParts } from "./session-parts.ts";

export interface OpenedSessions {
  readonly sessions: Sessions;
  /** The place of a run in the session that it wishes. Its things are put with the run. */
  join(wish: SessionWish, joining: Joining): Promise<JoinedSession>;
  /** What a session held before a run of it. Rejects with `conflict` for a takeover that finds another. Run code. */
  read(place: SessionPlace, context: RunContext): Promise<SessionBefore>;
}

interface Parts {
  readonly shelf: () => Promise<Shelf>;
  readonly clock: Clock;
  readonly engine: Engine;
  /** Whether runs are kept in memory: their things are lost where nobody has opened a shelf. */
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
      const { goOn } = await import("./go-on.ts");
      return await goOn(await toParts(), wish, joining);
    },
    async read(place, context) {
      if (place.position === 0) return NOTHING_BEFORE;
      const { readBeforeRun } = await import("./read-before-run.ts");
      return await readBeforeRun(await shelf(), place, context);
    },
  };
}
