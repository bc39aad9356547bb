/** `offshoot keys`: who may ask the server, in the record that `offshoot serve` reads while it runs. */

import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { plural } from "../../base/text.ts";
import type { Config } from "../../runtime/config/config.ts";
import { KEY_LIMITS, type Key, type KeyLimit, stateOf } from "../../server/guard/key.ts";
import { createKey, type KeyParts, listKeys, revokeKey } from "../../server/guard/keys.ts";
import { type Amounts, createSpending, type Spending } from "../../store/spending.ts";
import { waitForSpending } from "../../store/waiting-spending.ts";
import type { Options, RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";
import { toMoney } from "../output/amounts.ts";
import { cleanForTerminal } from "../terminal.ts";
import { parseKeyWish, toFlag } from "./key-wish.ts";

export const run: RunCommand = async ({ words, options }, io) => {
  const [action = "list", ...names] = words;
  const act = ACTIONS[action];
  if (!act) throw new Failure("invalid_request", `There is no \`offshoot keys ${action}\`.`);
  if (names.length !== act.words.length) {
    const line = ["offshoot keys", action, ...act.words].join(" ");
    throw new Failure("invalid_request", `Write \`${line}\`.`);
  }
  const config = await openConfig({}, io);
  const record = await openRecord(config);
  try {
    await act.run(record, { io, options, config, name: names[0] ?? "" });
    return 0;
  } finally {
    await record.close();
  }
};

interface Asked {
  readonly io: Io;
  readonly options: Options;
  readonly config: Config;
  readonly name: string;
}

interface ActionRow {
  /** What stands behind it. */
  readonly words: readonly string[];
  run(record: OpenedRecord, asked: Asked): Promise<void>;
}

const ACTIONS: Readonly<Partial<{ [name: string]: ActionRow }>> = {
  create: { words: ["NAME"], run: create },
  list: { words: [], run: list },
  revoke: { words: ["ID"], run: revoke },
};

interface OpenedRecord extends KeyParts {
  readonly spending: Spending;
  close(): Promise<void>;
}

async function openRecord(config: Config): Promise<OpenedRecord> {
  const { openSqliteStores } = await import("../../store/sqlite-store.ts");
  const stores = await openSqliteStores(config.get("store_path") ?? config.paths.runsFile);
  const { shelf, chunksDb, close } = stores;
  return { shelf, clock: systemClock, spending: waitForSpending(createSpending(chunksDb)), close };
}

/** The key alone is on standard output, for `KEY=$(offshoot keys create …)`. */
async function create(record: OpenedRecord, { io, options, config, name }: Asked): Promise<void> {
  const { knownTools } = await import("../../runtime/settings.ts");
  const around = { nowMs: record.clock.now(), knownTools: knownTools(config) };
  const wish = parseKeyWish(name, options, around);
  const { key, token } = await createKey(record, wish);
  await io.stdout.write(options["json"] ? toLine({ ...toShown(key), token }) : `${token}\n`);
  await io.stderr.write(`This is the key \`${key.id}\`. It is shown this once; keep it safe.\n`);
  if (hasDollarLimit(key)) {
    const line = "With a limit in dollars, this key cannot use models whose price is not known.";
    await io.stderr.write(`${line} Prices: offshoot models, or \`models\` in the settings.\n`);
  }
}

async function list(
  { shelf, spending, clock }: OpenedRecord,
  { io, options }: Asked,
): Promise<void> {
  const nowMs = clock.now();
  const keys = await Promise.all(
    (await listKeys(shelf)).map(async (key) => {
      const { day, total } = await spending.read(key.id, nowMs);
      return { key, used: { day, total } };
    }),
  );
  if (options["json"]) {
    const shown = keys.map(({ key, used }) => {
      return { ...toShown(key), state: stateOf(key, nowMs), used };
    });
    await io.stdout.write(toLine(shown));
    return;
  }
  if (keys.length === 0) {
    await io.stderr.write("No keys yet. Make one: offshoot keys create NAME\n");
  }
  const rows = keys.map((listed) => toRow(listed, nowMs));
  await io.stdout.write(toTable(rows));
}

async function revoke(record: OpenedRecord, { io, name }: Asked): Promise<void> {
  const { id } = await revokeKey(record, name);
  await io.stdout.write(`The key ${id} is revoked; servers that run know it within seconds.\n`);
}

function hasDollarLimit({ limits, response_limits }: Key): boolean {
  const { usd_per_day, usd_total } = limits;
  return [usd_per_day, usd_total].some(Boolean) || response_limits.usd !== null;
}

function toLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Without the hash: it is of no use to anybody. */
function toShown({ hash: _, ...key }: Key): Omit<Key, "hash"> {
  return key;
}

interface ListedKey {
  readonly key: Key;
  readonly used: { readonly day: Amounts; readonly total: Amounts };
}

function toRow({ key, used: { day, total } }: ListedKey, nowMs: number): string[] {
  const { id, name, tenant, scopes, last_used_ms } = key;
  const used = last_used_ms === null ? "never used" : `used ${toDay(last_used_ms)}`;
  const may = [scopes.join(","), ...toBounds(key)].filter((text) => text !== "").join(" ");
  const amounts = [`today ${toUsed(day)}`, `in all ${toUsed(total)}`];
  return [id, name, tenant, stateOf(key, nowMs), used, ...amounts, may].map(cleanForTerminal);
}

/**
 * `3 requests, 1200 tokens, $0.01`. Calls whose price is not known are booked without dollars, as free ones
 * are: where there are none, nobody can tell which it was.
 */
function toUsed({ requests, tokens, usd }: Amounts): string {
  const nothing = tokens === 0 ? "$0.00" : "free or cost unknown";
  const money = usd === 0 ? nothing : toMoney(usd);
  return `${plural(requests, "request")}, ${plural(tokens, "token")}, ${money}`;
}

/** What it may do, in the words of the flags. */
function toBounds({ models, catalogue, limits, expires_at_ms }: Key): string[] {
  const amounts = Object.keys(KEY_LIMITS).flatMap((name) => {
    const limit = limits[name as KeyLimit];
    if (limit === undefined) return [];
    return [`${toFlag(name)}=${name.startsWith("usd") ? toMoney(limit) : limit}`];
  });
  return [
    ...(models ? [`models=${models.join(",")}`] : []),
    ...(catalogue ? [`tools=${catalogue.join(",") || "none"}`] : []),
    ...amounts,
    ...(expires_at_ms === null ? [] : [`expires=${toDay(expires_at_ms)}`]),
  ];
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function toTable(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)),
    [],
  );
  const lines = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
