/**
 * A session on the shelf: a conversation, and one small thing for each of its runs, in order.
 *
 * What a run said is in its log. It is copied to the conversation's items when a run continues the session or its
 * items are requested (`keep-runs.ts`). So a session of one run costs two small rows, which are written in the
 * transaction of the run.
 */

import type { Json, JsonObject } from "../../base/json.ts";
import type { NewThing, Shelf, Thing, ThingName, ThingQuery } from "../../store/shelf.ts";
import { CONVERSATION_KIND } from "./conversation-name.ts";

export const SESSION_RUN_KIND = "session_run";
/**
 * Stored beside the run until its items are copied. A response needs none: it copies its items itself.
 */
const UNKEPT_KIND = "session_unkept";
const NEXT_KIND = "session_next";

/**
 * The fields of a session besides its items. The title is `metadata.title`, where clients of the API see it.
 */
export interface SessionFacts {
  /** The folder where it began; null if a client of the server began it. */
  readonly folder: string | null;
  readonly forked_from: ForkPoint | null;
}

export interface ForkPoint {
  readonly session: string;
  /** The last turn in the fork; counted from 1 over the whole session, and 0 for none. */
  readonly turn: number;
}

export interface SessionRun {
  readonly run: string;
  /** The folder in which it worked; null for a response. */
  readonly folder: string | null;
}

interface SessionName {
  readonly tenant: string;
  readonly id: string;
}

interface NewSession extends SessionName, SessionFacts {
  readonly title: string;
  readonly nowMs: number;
}

/** The longest value of a metadata field in the API. */
const MAX_TITLE_CHARS = 512;

export function toSessionThing(session: NewSession): NewThing {
  const { tenant, id, title, folder, forked_from, nowMs } = session;
  const facts: JsonObject = { folder, forked_from: forked_from && { ...forked_from } };
  return {
    tenant,
    kind: CONVERSATION_KIND,
    id,
    parent: null,
    body: { metadata: { title: title.slice(0, MAX_TITLE_CHARS) }, session: facts },
    created_at_ms: nowMs,
    expires_at_ms: null,
  };
}

/**
 * For a run of the command line or of a program: it belongs to its session, and its items are not copied yet.
 */
export function toRunThings(
  { tenant, id }: SessionName,
  run: SessionRun,
  nowMs: number,
): readonly [NewThing, NewThing] {
  const unkept = { ...nameUnkept({ tenant, id }, run.run), parent: id, body: { run: run.run } };
  return [
    toSessionRunThing({ tenant, id }, run, nowMs),
    { ...unkept, created_at_ms: nowMs, expires_at_ms: null },
  ];
}

/** For any run of the session, a response too. */
export function toSessionRunThing(
  { tenant, id }: SessionName,
  { run, folder }: SessionRun,
  nowMs: number,
): NewThing {
  return {
    ...nameSessionRun({ tenant, id }, run),
    parent: id,
    body: { run, folder },
    created_at_ms: nowMs,
    expires_at_ms: null,
  };
}

export function nameSessionRun({ tenant, id }: SessionName, run: string): ThingName {
  return { tenant, kind: SESSION_RUN_KIND, id: `${id}/${run}` };
}

export function nameUnkept({ tenant, id }: SessionName, run: string): ThingName {
  return { tenant, kind: UNKEPT_KIND, id: `${id}/${run}` };
}

/**
 * The one run that continues after another: of two that are stored at once, one succeeds. `after` is the id of the
 * last run of the session, or undefined if it has none.
 */
export function toNextThing(
  { tenant, id }: SessionName,
  { after, run }: { readonly after: string | undefined; readonly run: string },
  nowMs: number,
): NewThing {
  return {
    tenant,
    kind: NEXT_KIND,
    id: `${id}/${after ?? ""}`,
    parent: id,
    body: { run },
    created_at_ms: nowMs,
    expires_at_ms: null,
  };
}

export function readSessionRun({ body }: Pick<Thing, "body">): SessionRun {
  const { run, folder } = body as JsonObject;
  return { run: String(run), folder: typeof folder === "string" ? folder : null };
}

/** Also for a conversation that a client of the server began: it has none of them. */
export function readSessionFacts(body: Json): SessionFacts & { readonly title: string | null } {
  const { metadata, session } = body as { readonly [key: string]: JsonObject | undefined };
  const { folder = null, forked_from = null } = session ?? {};
  const title = metadata?.["title"];
  return {
    title: typeof title === "string" && title !== "" ? title : null,
    folder: typeof folder === "string" ? folder : null,
    forked_from: forked_from as ForkPoint | null,
  };
}

/** The runs of a session, the oldest first. */
export async function listSessionRuns(
  shelf: Pick<Shelf, "list">,
  { tenant, id }: SessionName,
): Promise<SessionRun[]> {
  const things = await listAll(shelf, { tenant, kind: SESSION_RUN_KIND, parent: id });
  return things.map(readSessionRun);
}

/** A run whose items are not copied yet. */
export interface UnkeptRun {
  readonly run: string;
  readonly created_at_ms: number;
}

/** The oldest first. Most conversations have none. */
export async function listUnkept(
  shelf: Pick<Shelf, "list">,
  { tenant, id }: SessionName,
): Promise<UnkeptRun[]> {
  const things = await listAll(shelf, { tenant, kind: UNKEPT_KIND, parent: id });
  return things.map(({ body, created_at_ms }) => {
    return { run: String((body as JsonObject)["run"]), created_at_ms };
  });
}

/** A run takes its place right before it is written down; after this time it never will be. */
const COMING_MS = 60_000;

/** True if a run that is not in the record may still be written down. */
export function isComing({ created_at_ms }: UnkeptRun, nowMs: number): boolean {
  return nowMs - created_at_ms < COMING_MS;
}

const PAGE = 500;

async function listAll(
  shelf: Pick<Shelf, "list">,
  among: Pick<ThingQuery, "tenant" | "kind" | "parent">,
): Promise<Thing[]> {
  const things: Thing[] = [];
  for (let after: string | undefined; ; ) {
    const page = await shelf.list({ ...among, order: "oldest", limit: PAGE, after });
    things.push(...page);
    after = page.at(-1)?.id;
    if (page.length < PAGE) return things;
  }
}
