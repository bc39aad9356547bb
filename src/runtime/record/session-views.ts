/** Sessions as the API shows them. They belong to the tenant of the command line: others have none. */

import { Failure } from "../../base/failure.ts";
import { clip, cutToChars } from "../../base/text.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import type { SessionSummary, Sessions } from "../sessions/session.ts";
import type { Viewer } from "./found-runs.ts";
import { parseLimit, type Query } from "./run-query.ts";
import type { RecordPage, SessionDetail, SessionView } from "./views.ts";

export interface SessionReader {
  sessions(viewer: Viewer, query: Query): Promise<RecordPage<SessionView>>;
  session(viewer: Viewer, id: string): Promise<SessionDetail>;
  /** A new session with the content of the run's session up to the end of a turn; all of it when left out. */
  fork(viewer: Viewer, id: string, turn: number | undefined): Promise<SessionView>;
}

/** The size of a prompt or an answer, and of all turns together. */
const TURN_CHARS = 4000;
const MAX_TURNS = 200;

export function createSessionReader(sessions: Sessions): SessionReader {
  const isTheirs = ({ tenant }: Viewer): boolean =>
    tenant === undefined || tenant === DEFAULT_TENANT;
  const check = (viewer: Viewer, id: string): void => {
    if (isTheirs(viewer)) return;
    throw new Failure("not_found", `There is no session \`${clip(id, 80)}\`.`);
  };
  return {
    async sessions(viewer, query) {
      if (!isTheirs(viewer)) return { object: "list", data: [], next: null };
      const limit = parseLimit(query);
      const folder = query.get("folder") || undefined;
      const text = query.get("search") || undefined;
      const after = query.get("after") || undefined;
      const found = await sessions.listPage({ limit, folder, text, after });
      return { object: "list", data: found.sessions.map(toView), next: found.next ?? null };
    },
    async session(viewer, id) {
      check(viewer, id);
      const summary = await sessions.get(id);
      const turns = await sessions.turns(id);
      const shown = turns.slice(-MAX_TURNS).map(({ turn, prompt, text, calls }) => ({
        turn,
        calls,
        text: cutToChars(text, TURN_CHARS),
        prompt: prompt === null ? null : cutToChars(prompt, TURN_CHARS),
      }));
      return { ...toView(summary), turns: shown, turn_count: turns.length };
    },
    async fork(viewer, id, turn) {
      check(viewer, id);
      return toView(await sessions.fork(id, { turn }));
    },
  };
}

function toView(summary: SessionSummary): SessionView {
  const { forked_from, runs, ...rest } = summary;
  const forked = forked_from === null ? null : { ...forked_from };
  return { object: "session", ...rest, runs: [...runs], forked_from: forked };
}
