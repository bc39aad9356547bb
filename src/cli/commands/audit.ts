/**
 * `offshoot audit`: who asked a server for what, newest first. Servers write an entry within a second.
 */

import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { FIXED_KEY } from "../../server/guard/key-ring.ts";
import { findNamedKey, listKeys } from "../../server/guard/keys.ts";
import type { AuditQuery, StoredAuditEntry } from "../../store/audit.ts";
import type { Options, RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";
import { cleanForTerminal } from "../terminal.ts";
import { toTable, toTime } from "./key-text.ts";
import { type OpenedBooks, openBooks } from "./open-books.ts";
import { DAY_MS, readDayMs } from "./read-day.ts";

export const run: RunCommand = async ({ words, options }, io) => {
  if (words.length > 1) throw new Failure("invalid_request", "Write `offshoot audit list`.");
  const asked = parseQuery(options, systemClock.now());
  const books = await openBooks(await openConfig({ store: options["store"] }, io), io);
  try {
    const keyId = await findKeyId(books, options["key"]);
    const names = await readNames(books);
    const entries = (await books.audit.list({ ...asked, keyId })).map((entry) => ({
      ...entry,
      key_name: (entry.key_id !== null && names.get(entry.key_id)) || null,
    }));
    await show(entries, { io, isJson: options["json"] === true, limit: asked.limit });
    return 0;
  } finally {
    await books.close();
  }
};

const USUAL_LIMIT = 50;

function parseQuery(options: Options, nowMs: number): AuditQuery {
  const { tenant, day, route, status } = options;
  const fromMs = day === undefined ? undefined : readDayMs(day, nowMs);
  return {
    limit: readWhole(options, "limit") ?? USUAL_LIMIT,
    before: readWhole(options, "before"),
    tenant: typeof tenant === "string" ? tenant : undefined,
    time: fromMs === undefined ? undefined : [fromMs, fromMs + DAY_MS],
    action: typeof route === "string" ? route : undefined,
    status: status === undefined ? undefined : parseStatus(String(status)),
  };
}

function readWhole(options: Options, flag: string): number | undefined {
  const value = options[flag];
  if (value === undefined) return undefined;
  if (/^\d{1,15}$/.test(String(value)) && Number(value) > 0) return Number(value);
  const message = `--${flag} takes a whole number above 0, not \`${clip(String(value), 40)}\`.`;
  throw new Failure("invalid_request", message);
}

function parseStatus(text: string): readonly [number, number] {
  const [, hundred, rest = ""] = /^([1-5])(\d\d|xx)$/i.exec(text) ?? [];
  if (hundred === undefined) {
    const message = `--status takes a status as \`429\` or a class as \`4xx\`, not \`${clip(text, 40)}\`.`;
    throw new Failure("invalid_request", message);
  }
  if (/^\d/.test(rest)) return [Number(text), Number(text) + 1];
  return [Number(hundred) * 100, Number(hundred) * 100 + 100];
}

/** The environment's key is not in the record, but its id is in the audit. */
async function findKeyId(
  { shelf }: OpenedBooks,
  given: Options[string],
): Promise<string | undefined> {
  if (typeof given !== "string") return undefined;
  if (given === FIXED_KEY.id || given === FIXED_KEY.name) return FIXED_KEY.id;
  return (await findNamedKey(shelf, given)).id;
}

/** Names by id. A removed key has none any more. */
async function readNames({ shelf }: OpenedBooks): Promise<ReadonlyMap<string, string>> {
  const keys = [FIXED_KEY, ...(await listKeys(shelf))];
  return new Map(keys.map(({ id, name }) => [id, name]));
}

interface NamedEntry extends StoredAuditEntry {
  readonly key_name: string | null;
}

async function show(
  entries: readonly NamedEntry[],
  { io, isJson, limit }: { io: Io; isJson: boolean; limit: number },
): Promise<void> {
  if (isJson) {
    await io.stdout.write(`${JSON.stringify(entries)}\n`);
    return;
  }
  await io.stdout.write(toTable(entries.map(toRow)));
  const last = entries.at(-1);
  if (!last) await io.stderr.write("The audit has no such entries.\n");
  else if (entries.length === limit) {
    await io.stderr.write(`There may be more: repeat the command with --before ${last.id}\n`);
  }
}

/** A path or an id may be text that a client invented. */
function toRow(entry: NamedEntry) {
  const { at_ms, key_id, key_name, tenant, status, action, target, address } = entry;
  const key = key_name === null || key_name === key_id ? key_id : `${key_name} (${key_id})`;
  const cells = [toTime(at_ms), String(status), key ?? "no key", tenant || "-", address ?? "-"];
  const what = target === null ? action : `${action} ${target}`;
  return [...cells, what].map(cleanForTerminal);
}
