/**
 * The names that a person may use for a session, read in one place: `conv_…`, the beginning of one, `run_…`, `resp_…`,
 * `last`.
 */

import { isTask, parseTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import {
  CONVERSATION_KIND,
  nameConversation,
} from "../../responses/conversations/conversation-name.ts";
import { readRunItems } from "../../responses/conversations/keep-runs.ts";
import { readSessionRun, SESSION_RUN_KIND } from "../../responses/conversations/session-things.ts";
import { toRunId } from "../../responses/fold/response-object.ts";
import { readOutput } from "../../responses/kept/kept-output.ts";
import { findKept, readInput } from "../../responses/kept/kept-response.ts";
import { type SessionParts, TENANT } from "./session-parts.ts";

/** The names, one line each, for the docs. */
export const SESSION_NAMES = {
  last: "The session that was last used in this folder",
  "conv_01k…":
    "The id, or a beginning of it that no other session has; also of a conversation of the API",
  "run_01k…": "The session of that run, or of the run above a subagent",
  "resp_01k…":
    "The conversation of that response; without one, a new session that begins with its chain",
} as const;

/** An existing session, or what a new one begins with. */
export type FoundSession =
  | { readonly id: string }
  | {
      readonly id: undefined;
      readonly items: readonly Item[];
      readonly title: string;
      readonly folder: string | null;
    };

interface Naming {
  /** Where `last` is looked for; anywhere when left out. */
  readonly folder?: string | undefined;
}

export async function findSession(
  parts: SessionParts,
  name: string,
  { folder }: Naming = {},
): Promise<FoundSession> {
  if (name === "last") return { id: await findLast(parts, folder) };
  if (name.startsWith("run_")) return await findOfRun(parts, name);
  if (name.startsWith("resp_")) return await findOfResponse(parts, name);
  return { id: await findById(parts, name) };
}

/** Finds an existing session, for callers that need one. */
export async function findSessionId(
  parts: SessionParts,
  name: string,
  naming: Naming = {},
): Promise<string> {
  const { id } = await findSession(parts, name, naming);
  if (id !== undefined) return id;
  const message = `\`${clip(name, 80)}\` belongs to no session. Continue it to begin one: \`offshoot run --session ${clip(name, 80)} "…"\`.`;
  throw new Failure("not_found", message, { param: "session" });
}

/** Rows are small, and most people ask in a folder that they used a moment ago. */
const FIRST_LOOK = 20;
const MOST_AT_ONCE = 500;

/** The last run of this folder names it. */
async function findLast({ shelf }: SessionParts, folder: string | undefined): Promise<string> {
  const among = { tenant: TENANT, kind: SESSION_RUN_KIND, order: "newest" } as const;
  let after: string | undefined;
  for (let limit = FIRST_LOOK; ; limit = Math.min(2 * limit, MOST_AT_ONCE)) {
    const page = await shelf.list({ ...among, limit, after });
    const found = page.find(
      (thing) => folder === undefined || readSessionRun(thing).folder === folder,
    );
    if (found?.parent) return found.parent;
    after = page.at(-1)?.id;
    if (page.length < limit) throw toNone(folder);
  }
}

function toNone(folder: string | undefined): Failure {
  const where = folder === undefined ? "" : " in this folder";
  const message = `There is no session${where} yet. Start one: offshoot run "…" (\`offshoot sessions list\` has those of all folders).`;
  return new Failure("not_found", message, { param: "session" });
}

/** How many sessions the beginning of an id is compared with. */
const MAX_LOOKED_AT = 1000;

async function findById({ shelf }: SessionParts, name: string): Promise<string> {
  if (await shelf.get(nameConversation(TENANT, name))) return name;
  const all = { tenant: TENANT, kind: CONVERSATION_KIND, order: "newest" } as const;
  const isBeginning = /^conv_./.test(name);
  const recent = isBeginning ? await shelf.list({ ...all, limit: MAX_LOOKED_AT }) : [];
  const near = recent.filter(({ id }) => id.startsWith(name));
  const [only] = near;
  if (only && near.length === 1) return only.id;
  if (near.length > 1) {
    const message = `\`${clip(name, 80)}\` is the beginning of ${near.length} sessions. Write more of the id.`;
    throw new Failure("not_found", message, { param: "session" });
  }
  const message = `There is no session \`${clip(name, 80)}\`. \`offshoot sessions list\` has the ids.`;
  throw new Failure("not_found", message, { param: "session" });
}

async function findOfRun(parts: SessionParts, name: string): Promise<FoundSession> {
  const { place, shelf } = parts;
  const [root = name] = name.split("/", 1);
  const run = await place.record.getRun(root);
  if (!run) {
    const message = `There is no run \`${clip(root, 80)}\`. \`offshoot runs list\` has the ids.`;
    throw new Failure("not_found", message, { param: "session" });
  }
  // A response of another tenant does not exist for the command line either.
  if (run.tenant !== null) return await findOfResponse(parts, root.replace(/^run_/, "resp_"));
  const task = isTask(run.input) ? parseTask(run.input) : undefined;
  const id = task?.session?.id;
  if (id !== undefined && (await shelf.get(nameConversation(TENANT, id)))) return { id };
  if (run.status === "running") {
    const message = `Run ${root} belongs to no session and has not ended yet. Continue it when it has.`;
    throw new Failure("conflict", message, { param: "session" });
  }
  const items = await readRunItems(place.record, root);
  return { id: undefined, items, title: run.title, folder: task?.root ?? null };
}

async function findOfResponse(parts: SessionParts, name: string): Promise<FoundSession> {
  const { shelf, place } = parts;
  const first = await findKept(shelf, TENANT, name);
  if (!first) {
    const message = `There is no response \`${clip(name, 80)}\`.`;
    throw new Failure("not_found", message, { param: "session" });
  }
  if (first.conversation_id !== null) return { id: await findById(parts, first.conversation_id) };
  const pieces: (readonly Item[])[] = [];
  for (let next: string | null = name; next !== null; ) {
    const kept = await findKept(shelf, TENANT, next);
    const output = kept && (await readOutput({ shelf, place }, TENANT, next));
    const input = output && (await readInput(place, next, kept));
    // Earlier items were deleted; the rest continues.
    if (!kept || !input) break;
    pieces.unshift([...input, ...output]);
    next = kept.previous_response_id;
  }
  const title = (await place.status(toRunId(name)))?.title ?? name;
  return { id: undefined, items: pieces.flat(), title, folder: null };
}
