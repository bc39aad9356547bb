/** Sessions of a record: list, read, rename, fork, delete. */

import { toPlainText } from "../../agent/context/message-text.ts";
import { isTask, parseTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import { STORED_ITEM } from "../../protocol/stored-items.ts";
import { nameConversation } from "../../responses/conversations/conversation-name.ts";
import { toUnknownConversation } from "../../responses/conversations/conversations.ts";
import { ITEM_KIND } from "../../responses/conversations/new-items.ts";
import {
  listSessionRuns,
  nameSessionRun,
  readSessionFacts,
  SESSION_RUN_KIND,
} from "../../responses/conversations/session-things.ts";
import { readTurns } from "../../responses/conversations/session-turns.ts";
import type { Thing } from "../../store/shelf.ts";
import { lastWords } from "../run-request.ts";
import { findSessionId } from "./find-session.ts";
import { forkSession, readSession } from "./go-on.ts";
import type { SessionPage, SessionQuery, SessionSummary, Sessions } from "./session.ts";
import { type SessionParts, TENANT } from "./session-parts.ts";
import { comesAfter, PAGE, type SessionUse, toNothing, walkSessions } from "./walk-sessions.ts";

export function createSessions(parts: SessionParts): Sessions {
  const { shelf, place } = parts;
  const find = (name: string): Promise<string> => findSessionId(parts, name);
  return {
    list: async (query = {}) => (await listSessions(parts, query)).sessions,
    listPage: (query = {}) => listSessions(parts, query),
    async get(name, { folder } = {}) {
      return await summarise(parts, await findSessionId(parts, name, { folder }));
    },
    items: async (name) => await readSession(parts, await find(name)),
    turns: async (name) => readTurns(await readSession(parts, await find(name))),
    async rename(name, title) {
      const id = await find(name);
      const words = clip(title, MAX_TITLE_CHARS);
      if (words === "") {
        throw new Failure("invalid_request", "The title is empty.", { param: "title" });
      }
      await shelf.change(nameConversation(TENANT, id), (body) =>
        withTitle(body as JsonObject, words),
      );
    },
    async delete(name) {
      const id = await find(name);
      const runs = await listSessionRuns(shelf, { tenant: TENANT, id });
      for (const { run } of runs) {
        const status = await place.status(run);
        if (status?.status !== "running" || !(await place.isHeld(status, { surely: true })))
          continue;
        const message = `Not deleted: run ${run} of the session is still running. Cancel it with \`offshoot runs cancel ${run}\`.`;
        throw new Failure("conflict", message, { param: "session" });
      }
      // A response belongs to the client that asked for it, and stays.
      const own = runs.filter(({ folder }) => folder !== null);
      const doomed = own.map(({ run }) => ({
        ...nameSessionRun({ tenant: TENANT, id }, run),
        run,
      }));
      await shelf.removeAll([...doomed, nameConversation(TENANT, id)]);
    },
    async fork(name, { turn, folder } = {}) {
      const { id } = await forkSession(parts, await find(name), { turn: turn ?? true, folder });
      return await summarise(parts, id);
    },
  };
}

const MAX_TITLE_CHARS = 200;

function withTitle(body: JsonObject, title: string): JsonObject {
  return { ...body, metadata: { ...(body["metadata"] as JsonObject | undefined), title } };
}

const USUAL_LIMIT = 20;

/** Goes back through the runs and forks: each session is listed at its last run, or when it was forked. */
async function listSessions(
  parts: SessionParts,
  { limit = USUAL_LIMIT, after, ...query }: SessionQuery,
): Promise<SessionPage> {
  const sessions: SessionSummary[] = [];
  const seen = new Set<string>();
  const begin = after === undefined ? undefined : parseCursor(after);
  let last: SessionUse | undefined;
  for await (const use of walkSessions(parts, query)) {
    const { id, usedAtMs } = use;
    if (seen.has(id)) continue;
    // A session of an earlier page is not listed again at one of its older runs.
    seen.add(id);
    if (begin && !comesAfter(use, begin)) continue;
    if (!(await hasText(parts, id, query.text))) continue;
    const summary = await summarise(parts, id).catch(toNothing);
    if (!summary) continue;
    if (sessions.length >= limit) return { sessions, next: last && toCursor(last) };
    sessions.push({ ...summary, used_at_ms: Math.max(summary.used_at_ms, usedAtMs) });
    last = use;
  }
  return { sessions, next: undefined };
}

function toCursor({ id, usedAtMs }: SessionUse): string {
  return `${usedAtMs}:${id}`;
}

function parseCursor(text: string): SessionUse {
  const [, ms, id] = /^(\d{1,15}):(\w+)$/.exec(text) ?? [];
  if (ms !== undefined && id !== undefined) return { usedAtMs: Number(ms), id };
  const message = `\`${clip(text, 80)}\` is not a cursor. Use the one that came with the page before.`;
  throw new Failure("invalid_request", message, { param: "after" });
}

async function summarise(parts: SessionParts, id: string): Promise<SessionSummary> {
  const { shelf } = parts;
  const thing = await shelf.get(nameConversation(TENANT, id));
  if (!thing) throw toUnknownConversation(id);
  const { title, folder, forked_from } = readSessionFacts(thing.body);
  const runs = await listSessionRuns(shelf, { tenant: TENANT, id });
  const among = { tenant: TENANT, kind: SESSION_RUN_KIND, parent: id, order: "newest" } as const;
  const [last] = await shelf.list({ ...among, limit: 1 });
  return {
    id,
    title: title ?? (await readFirstWords(parts, id)),
    folder,
    created_at_ms: thing.created_at_ms,
    used_at_ms: last?.created_at_ms ?? thing.created_at_ms,
    runs: runs.map(({ run }) => run),
    forked_from,
  };
}

const FIRST_ITEMS = 4;

/** A conversation of the API has no title: its first words are used. */
async function readFirstWords({ shelf }: SessionParts, id: string): Promise<string> {
  const among = { tenant: TENANT, kind: ITEM_KIND, parent: id, order: "oldest" } as const;
  const first = await shelf.list({ ...among, limit: FIRST_ITEMS });
  return clip(lastWords(first.map(toItem).slice(0, 1)), 80);
}

function toItem({ body }: Thing): Item {
  return STORED_ITEM.read(body);
}

/** Searches titles, prompts and last answers, which are quick to read, and then stored items. */
async function hasText(
  parts: SessionParts,
  id: string,
  text: string | undefined,
): Promise<boolean> {
  const wanted = text?.toLowerCase();
  if (wanted === undefined || wanted === "") return true;
  for await (const words of readTexts(parts, id)) {
    if (words.toLowerCase().includes(wanted)) return true;
  }
  return false;
}

/** The texts that are quick to read first. */
async function* readTexts({ shelf, place }: SessionParts, id: string): AsyncGenerator<string> {
  const thing = await shelf.get(nameConversation(TENANT, id));
  yield readSessionFacts(thing?.body ?? {}).title ?? "";
  for (const { run } of await listSessionRuns(shelf, { tenant: TENANT, id })) {
    const record = await place.record.getRun(run);
    if (!record) continue;
    const items = isTask(record.input) ? parseTask(record.input).items : [];
    yield items.map(textOf).join("\n");
    const { output_text } = (record.result ?? {}) as JsonObject;
    if (typeof output_text === "string") yield output_text;
  }
  const among = { tenant: TENANT, kind: ITEM_KIND, parent: id, order: "oldest" } as const;
  for (let after: string | undefined; ; ) {
    const page = await shelf.list({ ...among, limit: PAGE, after });
    yield page.map((one) => textOf(toItem(one))).join("\n");
    after = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}

function textOf(item: Item): string {
  return item.type === "message" ? toPlainText(item.content) : "";
}
