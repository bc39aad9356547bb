/** Goes through the sessions of a tenant, the last used first, from two lists of the record: runs and forks. */

import { Failure } from "../../base/failure.ts";
import { CONVERSATION_KIND } from "../../responses/conversations/conversation-name.ts";
import {
  readSessionFacts,
  readSessionRun,
  SESSION_RUN_KIND,
} from "../../responses/conversations/session-things.ts";
import type { Thing } from "../../store/shelf.ts";
import type { SessionQuery } from "./session.ts";
import { type SessionParts, TENANT } from "./session-parts.ts";

/** Rows are small: a page of them takes a millisecond. */
export const PAGE = 200;

/** A session, and when a run of it began in the folder, or when it was forked. */
export interface SessionUse {
  readonly id: string;
  readonly usedAtMs: number;
}

/** Several sessions may be used in one millisecond: those are in the order of their ids. */
export function comesAfter(use: SessionUse, { usedAtMs, id }: SessionUse): boolean {
  return use.usedAtMs < usedAtMs || (use.usedAtMs === usedAtMs && use.id < id);
}

/** Undefined for a session that was deleted meanwhile; throws any other failure. */
export function toNothing(thrown: unknown): undefined {
  if (thrown instanceof Failure && thrown.code === "not_found") return undefined;
  throw thrown;
}

/** The last used first; those of one millisecond by their ids. */
export async function* walkSessions(
  parts: SessionParts,
  query: SessionQuery,
): AsyncGenerator<SessionUse> {
  let together: SessionUse[] = [];
  const sorted = (): SessionUse[] => together.sort((a, b) => (comesAfter(a, b) ? 1 : -1));
  for await (const use of latestFirst(walkRuns(parts, query), walkForks(parts, query))) {
    if (use.id === "") continue;
    if (together[0] && together[0].usedAtMs !== use.usedAtMs) {
      yield* sorted();
      together = [];
    }
    together.push(use);
  }
  yield* sorted();
}

/** Reads no more of either than it needs. */
async function* latestFirst(one: AsyncGenerator<SessionUse>, other: AsyncGenerator<SessionUse>) {
  let a = await one.next();
  let b = await other.next();
  while (!a.done || !b.done) {
    if (!a.done && (b.done || a.value.usedAtMs >= b.value.usedAtMs)) {
      yield a.value;
      a = await one.next();
    } else if (!b.done) {
      yield b.value;
      b = await other.next();
    }
  }
}

async function* walkRuns(
  { shelf }: SessionParts,
  { folder, ...query }: SessionQuery,
): AsyncGenerator<SessionUse> {
  for await (const thing of walk(shelf, SESSION_RUN_KIND)) {
    const { created_at_ms: usedAtMs, parent } = thing;
    const isThere = folder === undefined || readSessionRun(thing).folder === folder;
    if (isThere && isThen(usedAtMs, query) && parent !== null) yield { id: parent, usedAtMs };
  }
}

/**
 * A fork without a run of its own is a session, too. Anything else that is stored with them has no id here: it only
 * says how far this has come.
 */
async function* walkForks(
  { shelf }: SessionParts,
  { folder, ...query }: SessionQuery,
): AsyncGenerator<SessionUse> {
  for await (const { id, body, created_at_ms: usedAtMs } of walk(shelf, CONVERSATION_KIND)) {
    const facts = readSessionFacts(body);
    const isThere = folder === undefined || facts.folder === folder;
    const isShown = facts.forked_from !== null && isThere && isThen(usedAtMs, query);
    yield { id: isShown ? id : "", usedAtMs };
  }
}

function isThen(
  usedAtMs: number,
  { sinceMs = 0, untilMs = Number.POSITIVE_INFINITY }: SessionQuery,
): boolean {
  return usedAtMs >= sinceMs && usedAtMs < untilMs;
}

/** The newest first. */
async function* walk(shelf: SessionParts["shelf"], kind: string): AsyncGenerator<Thing> {
  const among = { tenant: TENANT, kind, order: "newest", limit: PAGE } as const;
  for (let after: string | undefined; ; ) {
    const page = await shelf.list({ ...among, after });
    yield* page;
    after = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}
