/**
 * The limits of vendors' accounts in the tables `vendor_limits` and `vendor_demands`. A process that reports on an
 * account has it locked meanwhile. Times are those of the database's clock. The tables are unlogged: writes do not
 * wait for the disk, and after a crash of the database the processes report again what they know.
 */

import { fromColumn, toColumn } from "../text-column.ts";
import {
  DEMAND_MS,
  KNOWN_MS,
  type LimitReport,
  type LimitStanding,
  toLimit,
  type VendorLimit,
  type VendorLimits,
} from "../vendor-limits.ts";
import type { PostgresDatabase, Queries } from "./postgres-database.ts";

/** Processes that report on several accounts lock them in one order. */
const SEED = `insert into offshoot.vendor_limits (account)
  select account from unnest($1::text[]) as r (account) order by account
  on conflict (account) do nothing`;
const LOCK = `select account, "limit", round from offshoot.vendor_limits
  where account = any($1) and told_at > clock_timestamp() - $2 * interval '1 millisecond'
  order by account for update`;
const WRITE = `update offshoot.vendor_limits as l set "limit" = r."limit", round = r.round,
    told_at = clock_timestamp(), paused_until = greatest(l.paused_until,
      case when r.pause_ms > 0 then clock_timestamp() + r.pause_ms * interval '1 millisecond' end)
  from unnest($1::text[], $2::double precision[], $3::bigint[], $4::double precision[])
    as r (account, "limit", round, pause_ms)
  where l.account = r.account
  returning l.account, l."limit", l.round, extract(epoch from l.paused_until) * 1000 as pause,
    extract(epoch from l.paused_until - clock_timestamp()) * 1000 as pause_ms`;
const NEED = `insert into offshoot.vendor_demands (account, process, calls)
  select r.account, $1, r.calls from unnest($2::text[], $3::bigint[]) as r (account, calls)
  on conflict (account, process) do update
    set calls = excluded.calls, beaten_at = clock_timestamp()`;
const FORGET = `delete from offshoot.vendor_demands
  where account = any($1) and beaten_at < clock_timestamp() - $2 * interval '1 millisecond'`;
const DEMANDS = `select account, process, calls from offshoot.vendor_demands
  where account = any($1) and beaten_at > clock_timestamp() - $2 * interval '1 millisecond'
  order by account, process`;

/** The caller closes the database. */
export function createPostgresLimits(db: PostgresDatabase): VendorLimits {
  return {
    async exchange(process, reports) {
      if (reports.length === 0) return [];
      const sorted = [...reports].sort((a, b) => (a.account < b.account ? -1 : 1));
      return await db.transact((tx) => tell(tx, toColumn(process), sorted));
    },
  };
}

async function tell(
  tx: Queries,
  process: string,
  reports: readonly LimitReport[],
): Promise<LimitStanding[]> {
  const pick = <Name extends keyof LimitReport>(name: Name): LimitReport[Name][] =>
    reports.map((report) => report[name]);
  const accounts = pick("account");
  await tx.run(SEED, accounts);
  const known = new Map<unknown, VendorLimit>();
  for (const row of await tx.all(LOCK, accounts, KNOWN_MS)) {
    known.set(row["account"], { limit: Number(row["limit"]), round: Number(row["round"]) });
  }
  const told = reports.map((report) => toLimit(known.get(report.account), report));
  const limits = told.map(({ limit }) => limit);
  const rounds = told.map(({ round }) => round);
  const rows = await tx.all(WRITE, accounts, limits, rounds, pick("pauseMs"));
  await tx.run(NEED, process, accounts, pick("demand"));
  await tx.run(FORGET, accounts, KNOWN_MS);
  const demands = await tx.all(DEMANDS, accounts, DEMAND_MS);
  return rows.map((row) => ({
    account: String(row["account"]),
    limit: Number(row["limit"]),
    round: Number(row["round"]),
    pause: Number(row["pause"]),
    pauseMs: Math.max(0, Number(row["pause_ms"])),
    demands: demands
      .filter(({ account }) => account === row["account"])
      .map((one) => ({ process: fromColumn(one["process"]), calls: Number(one["calls"]) })),
  }));
}
