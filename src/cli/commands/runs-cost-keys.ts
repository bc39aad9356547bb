/**
 * `offshoot runs cost --by key|tenant`: what the keys of a server have used. Read from what the server books and not
 * from logs, because chat completions and responses with `store: false` have no run.
 */

import { Failure } from "../../base/failure.ts";
import { clip, withThousands } from "../../base/text.ts";
import type { Config } from "../../runtime/config/config.ts";
import { FIXED_KEY } from "../../server/guard/key-ring.ts";
import { listKeys } from "../../server/guard/keys.ts";
import type { Amounts, KeyAmounts } from "../../store/spending.ts";
import type { CommandCall } from "../command.ts";
import type { Io } from "../io.ts";
import { cleanForTerminal } from "../terminal.ts";
import { toCost } from "./key-text.ts";
import { type OpenedBooks, openBooks } from "./open-books.ts";
import { readDayMs } from "./read-day.ts";

type KeyCost = "key" | "tenant";

export function isKeyCost(by: unknown): by is KeyCost {
  return by === "key" || by === "tenant";
}

export async function showKeyCosts(
  by: KeyCost,
  { words, options }: CommandCall,
  { config, io }: { readonly config: Config; readonly io: Io },
): Promise<void> {
  const extra = words[1] ?? (options["limit"] === undefined ? undefined : "--limit");
  if (extra !== undefined) {
    const message = `\`--by ${by}\` adds up all that keys have used: leave out \`${clip(extra, 60)}\`.`;
    throw new Failure("invalid_request", message);
  }
  const books = await openBooks(config, io);
  try {
    const { day } = options;
    const dayMs = day === undefined ? undefined : readDayMs(day, books.clock.now());
    const rows = await readRows(books, by, dayMs);
    if (options["json"]) {
      const shown = dayMs === undefined ? null : new Date(dayMs).toISOString().slice(0, 10);
      await io.stdout.write(`${JSON.stringify({ by, day: shown, rows })}\n`);
      return;
    }
    if (rows.length === 0) await io.stderr.write("No key has used anything.\n");
    else await io.stdout.write(renderRows(by, rows));
  } finally {
    await books.close();
  }
}

interface Row extends Amounts {
  readonly key: string;
  /** For a key; a tenant has none. */
  readonly name?: string | undefined;
  readonly tenant: string;
  /** Null if part of it is unknown: `usd` is the known part. */
  readonly cost_usd: number | null;
}

/** Sorted by cost, then by tokens and requests, the largest first. */
async function readRows(
  { shelf, spending }: OpenedBooks,
  by: KeyCost,
  dayMs: number | undefined,
): Promise<Row[]> {
  const owners = new Map([FIXED_KEY, ...(await listKeys(shelf))].map((key) => [key.id, key]));
  const rows = new Map<string, Row>();
  for (const used of await spending.list(dayMs)) {
    const owner = owners.get(used.keyId);
    const tenant = owner?.tenant ?? "unknown";
    const key = by === "key" ? used.keyId : tenant;
    const name = by === "key" ? (owner?.name ?? "unknown") : undefined;
    rows.set(key, { key, name, tenant, ...addUsed(rows.get(key), used) });
  }
  return [...rows.values()].sort(
    (a, b) => b.usd - a.usd || b.tokens - a.tokens || b.requests - a.requests,
  );
}

function addUsed(sum: Amounts | undefined, more: KeyAmounts): Amounts & Pick<Row, "cost_usd"> {
  const add = (unit: keyof Amounts): number => (sum?.[unit] ?? 0) + more[unit];
  const unpriced = add("unpriced");
  const usd = add("usd");
  const cost_usd = unpriced > 0 ? null : usd;
  return { requests: add("requests"), tokens: add("tokens"), usd, unpriced, cost_usd };
}

function renderRows(by: KeyCost, rows: readonly Row[]): string {
  const head = by === "key" ? ["key", "name", "tenant"] : ["tenant"];
  const table = [
    [...head, "requests", "tokens", "cost"],
    ...rows.map((row) => [
      ...(by === "key" ? [row.key, row.name ?? "", row.tenant] : [row.key]).map(cleanForTerminal),
      ...[row.requests, row.tokens].map(withThousands),
      toCost(row),
    ]),
  ];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  const pad = (cell: string, at: number): string => {
    const width = widths?.[at] ?? 0;
    return at < head.length ? cell.padEnd(width) : cell.padStart(width);
  };
  return table.map((row) => `${row.map(pad).join("  ").trimEnd()}\n`).join("");
}
