/**
 * A run that continues a session: what its runs said is added to the items, and it takes its place after the last of
 * them.
 *
 * Only one run of a session works at a time. A second one continues in a fork, which begins with what is finished: no
 * run waits for an unrelated run, and no answer is mixed into another. A run whose process died is ended first.
 */

import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import { nameConversation } from "../../responses/conversations/conversation-name.ts";
import { readItems } from "../../responses/conversations/items.ts";
import { keepRuns, toCopiedThings } from "../../responses/conversations/keep-runs.ts";
import { ITEM_KIND } from "../../responses/conversations/new-items.ts";
import {
  isComing,
  listSessionRuns,
  listUnkept,
  readSessionFacts,
  type SessionFacts,
  type SessionRun,
  toNextThing,
  toRunThings,
  toSessionThing,
} from "../../responses/conversations/session-things.ts";
import { countTurns, upToTurn } from "../../responses/conversations/session-turns.ts";
import type { JoinedSession, Joining } from "./begin-session.ts";
import { findSession } from "./find-session.ts";
import type { ForkedFrom, SessionWish } from "./session.ts";
import { type SessionParts, TENANT } from "./session-parts.ts";

/** A session that is begun under a given id has nothing to continue. */
type GoingOn = Exclude<SessionWish, { readonly begin: true }>;

export async function continueSession(
  parts: SessionParts,
  wish: GoingOn,
  joining: Joining,
): Promise<JoinedSession> {
  const asked = typeof wish === "string" ? { id: wish, fork: undefined } : wish;
  const found = await findSession(parts, asked.id, { folder: joining.folder });
  if (found.id === undefined) {
    const { items, title, folder } = found;
    const turn = toTurn(asked.fork, items);
    const id = await copySession(parts, upTo(items, turn), { title, folder, forked_from: null });
    return await join(parts, id, joining);
  }
  if (asked.fork !== undefined) {
    return await joinFork(parts, found.id, { joining, turn: asked.fork, why: "asked" });
  }
  const runs = await listSessionRuns(parts.shelf, { tenant: TENANT, id: found.id });
  const isFree = await endDead(parts, found.id, runs);
  const joined = isFree ? await tryJoin(parts, found.id, { runs, joining }) : undefined;
  return joined ?? (await joinFork(parts, found.id, { joining, turn: true, why: "busy" }));
}

interface Forking {
  readonly joining: Joining;
  /** True for its end. */
  readonly turn: true | number;
  readonly why: ForkedFrom["why"];
}

async function joinFork(
  parts: SessionParts,
  session: string,
  { joining, turn, why }: Forking,
): Promise<JoinedSession> {
  const copy = await forkSession(parts, session, { turn, folder: joining.folder });
  const runs = await listSessionRuns(parts.shelf, { tenant: TENANT, id: session });
  const joined = await join(parts, copy.id, joining);
  const forked = { session, turn: copy.turn, why };
  return { ...joined, forked, after: lastHere(runs) };
}

interface Copying {
  readonly turn: true | number;
  readonly folder?: string | null | undefined;
}

/** Copies the content of a session into a new one, which is independent from then on. */
export async function forkSession(
  parts: SessionParts,
  session: string,
  { turn, folder }: Copying,
): Promise<{ readonly id: string; readonly turn: number }> {
  const items = await readSession(parts, session);
  const thing = await parts.shelf.get(nameConversation(TENANT, session));
  const facts = readSessionFacts(thing?.body ?? {});
  const at = toTurn(turn, items);
  const id = await copySession(parts, upTo(items, at), {
    title: facts.title ?? "",
    folder: folder ?? facts.folder,
    forked_from: { session, turn: at },
  });
  return { id, turn: at };
}

/** Everything in a session, with what its ended runs said. */
export async function readSession(parts: SessionParts, id: string): Promise<readonly Item[]> {
  await keepRuns(parts, TENANT, id);
  return (await readItems(parts, TENANT, id)).items;
}

function toTurn(turn: true | number | undefined, items: readonly Item[]): number {
  return typeof turn === "number" ? turn : countTurns(items);
}

function upTo(items: readonly Item[], turn: number): readonly Item[] {
  const count = countTurns(items);
  if (turn === count) return items;
  const kept = Number.isInteger(turn) && turn >= 0 ? upToTurn(items, turn) : undefined;
  if (kept) return kept;
  const has = count === 0 ? "it has none" : `it has turns 1 to ${count}`;
  const message = `The session has no turn ${clip(String(turn), 20)}: ${has}.`;
  throw new Failure("invalid_request", message, { param: "session" });
}

/** Copies a session with its items in one transaction: no reader sees half of it. */
async function copySession(
  parts: SessionParts,
  items: readonly Item[],
  facts: SessionFacts & { readonly title: string },
): Promise<string> {
  const name = { tenant: TENANT, id: makeId("conv") };
  const nowMs = parts.clock.now();
  const session = toSessionThing({ ...name, ...facts, nowMs });
  await parts.shelf.putAll([session, ...toCopiedThings(parts, name, items)]);
  return name.id;
}

/** Joins a session that only this caller knows yet. */
async function join(parts: SessionParts, id: string, joining: Joining): Promise<JoinedSession> {
  const { run, folder, nowMs } = joining;
  const name = { tenant: TENANT, id };
  const things = toRunThings(name, { run, folder }, nowMs);
  const needs = [nameConversation(TENANT, id)];
  return { place: { ...name, position: await findPosition(parts, id) }, things, needs };
}

interface Trying {
  readonly runs: readonly SessionRun[];
  readonly joining: Joining;
}

/** Undefined if another run continues from the same place. */
async function tryJoin(
  parts: SessionParts,
  id: string,
  { runs, joining }: Trying,
): Promise<JoinedSession | undefined> {
  const { shelf } = parts;
  const { run, folder, nowMs } = joining;
  const name = { tenant: TENANT, id };
  const claim = toNextThing(name, { after: runs.at(-1)?.run, run }, nowMs);
  const things = toRunThings(name, { run, folder }, nowMs);
  if (await shelf.claim({ claim, things, isOver: () => false })) return undefined;
  const undo = async (): Promise<void> => {
    // Together with the run, which no process could continue or end, even if it was stored and only the answer was lost.
    await shelf.removeAll([{ ...claim, run }, ...things]);
  };
  try {
    await keepRuns(parts, TENANT, id);
    const place = { ...name, position: await findPosition(parts, id) };
    const needs = [claim, nameConversation(TENANT, id)];
    return { place, things: [], needs, after: lastHere(runs), undo };
  } catch (thrown) {
    await undo();
    throw thrown;
  }
}

/** A response has no prompt of the command line. */
function lastHere(runs: readonly SessionRun[]): string | undefined {
  return runs.findLast(({ folder }) => folder !== null)?.run;
}

async function findPosition({ shelf }: SessionParts, id: string): Promise<number> {
  const among = { tenant: TENANT, kind: ITEM_KIND, parent: id, order: "newest" } as const;
  const [last] = await shelf.list({ ...among, limit: 1 });
  return last?.position ?? 0;
}

/**
 * Ends the runs whose process died, with what they have. Resolves to false if a run is at work. Runs whose items are
 * stored have ended, except possibly the last one, which may be a response.
 */
async function endDead(
  { place, shelf, clock }: SessionParts,
  id: string,
  runs: readonly SessionRun[],
): Promise<boolean> {
  const unkept = await listUnkept(shelf, { tenant: TENANT, id });
  const last = runs.slice(-1).map(({ run }) => ({ run, created_at_ms: 0 }));
  for (const one of [...unkept, ...last]) {
    const { run } = one;
    const status = await place.status(run);
    if (!status && isComing(one, clock.now())) return false;
    if (status?.status !== "running") continue;
    // A server continues its own runs.
    if (status.tenant !== null || (await place.isHeld(status, { surely: true }))) return false;
    await place.cancel(run, { tree: true });
    await place.result(run);
  }
  return true;
}
