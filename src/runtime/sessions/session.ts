/**
 * Sessions as programs see them. A session is a conversation of the API: a list of items that continues, and its runs.
 */

import type { Item } from "../../protocol/items.ts";
import type { ForkPoint } from "../../responses/conversations/session-things.ts";
import type { SessionTurn } from "../../responses/conversations/session-turns.ts";

/**
 * Which session a run belongs to. `new` begins one. Any other text names one to continue: `conv_…`, `run_…` (the
 * session of that run), `resp_…` (its conversation, or a new session that begins with its chain), or `last` (the one
 * last used in the run's folder). With `fork` the run continues in a new session that begins with the content of the
 * named one, all of it or up to a turn.
 */
export type SessionWish =
  | string
  | { readonly id: string; readonly fork: true | number }
  /** Begins one under an id that the caller has made and reported already (`conv_…`). */
  | { readonly id: string; readonly begin: true };

export interface SessionSummary {
  /** `conv_…`. */
  readonly id: string;
  /** The first prompt, or the title that a person gave it. */
  readonly title: string;
  /** Where it began; null for one that a client of a server began. */
  readonly folder: string | null;
  readonly created_at_ms: number;
  /** When its last run began. */
  readonly used_at_ms: number;
  /** The ids of its runs, responses among them, the oldest first. */
  readonly runs: readonly string[];
  readonly forked_from: ForkPoint | null;
}

export interface SessionQuery {
  /** Only those with a run in this folder. */
  readonly folder?: string | undefined;
  /** Only those whose title, prompts or answers contain this, in any case. */
  readonly text?: string | undefined;
  /** Only those used from this moment on, and before that one. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** 20 when left out. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** Undefined if there are no more. */
  readonly next: string | undefined;
}

/** The fork that a run went to instead of the session it named. */
export interface ForkedFrom extends ForkPoint {
  /** `busy`: another run of that session was at work. */
  readonly why: "asked" | "busy";
}

/**
 * Names are those of `SessionWish`, and the beginning of an id. All reject with `not_found` if there is no such
 * session.
 */
export interface Sessions {
  /** The last used first. */
  list(query?: SessionQuery): Promise<readonly SessionSummary[]>;
  /** The same, with what the next page begins after. */
  listPage(query?: SessionQuery): Promise<SessionPage>;
  /** `folder` is where `last` is looked for: any when left out. */
  get(name: string, options?: { readonly folder?: string | undefined }): Promise<SessionSummary>;
  /** Everything that was said, the oldest first. A run at work has said nothing yet. */
  items(id: string): Promise<readonly Item[]>;
  turns(id: string): Promise<readonly SessionTurn[]>;
  rename(id: string, title: string): Promise<void>;
  /**
   * Removes it with its items, its runs and all below them. Rejects with `conflict` while one of its runs is at work.
   */
  delete(id: string): Promise<void>;
  /** A new session with the content of this one up to the end of `turn`; all of it when left out. */
  fork(id: string, options?: ForkOptions): Promise<SessionSummary>;
}

export interface ForkOptions {
  /** From 1 over the whole session; 0 for the beginning. */
  readonly turn?: number | undefined;
  readonly folder?: string | undefined;
}
