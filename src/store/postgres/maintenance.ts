/** Maintains a record in Postgres, also while servers use it. The server's own tools do most of it. */

import { Failure } from "../../base/failure.ts";
import type { StoreCheck, StoreMigration, VectorReport } from "../kept.ts";
import { migrate } from "./migrations.ts";
import { findPgvector, LEAST_VERSION, MAX_INDEXED_LENGTH } from "./pgvector.ts";
import type { PostgresDatabase, Reads } from "./postgres-database.ts";
import { countLengths, findVectorTable, makeVectorTable, VECTOR_SCHEMA } from "./vector-table.ts";

/** Checks of references without a foreign key. Each returns a line for every wrong row. */
const CHECKS: readonly string[] = [
  `select 'The log of run ' || r.id || ' has ' || coalesce(sum(e.count), 0) || ' events, not '
      || r.next_seq || '.' as problem
    from offshoot.runs r left join offshoot.events e on e.run_id = r.id
    group by r.id having coalesce(sum(e.count), 0) <> r.next_seq`,
  `select 'Run ' || id || ' has ended without an ending.' as problem
    from offshoot.runs where status = 'ended' and ending is null`,
  `select 'Turn of run ' || t.run_id || ' is still taken, though it has ended.' as problem
    from offshoot.turns t join offshoot.runs r on r.id = t.run_id where r.status = 'ended'`,
  `select 'A large value of run ' || r.id || ' is gone.' as problem from offshoot.runs r
    cross join lateral (values (r.input_parts), (r.result_parts)) as v (parts)
    where v.parts is not null and not exists (
      select 1 from offshoot.parts p where p.run_id = r.id and p.id = v.parts)`,
];
const SHOWN = 20;
const SCHEMAS = `'offshoot', '${VECTOR_SCHEMA}'`;

export async function checkStore(db: PostgresDatabase): Promise<StoreCheck> {
  const problems: string[] = [];
  for (const sql of CHECKS) {
    for (const row of await db.all(sql)) problems.push(String(row["problem"]));
  }
  const counts = await db.get(
    `select (select count(*) from offshoot.runs) as runs,
      coalesce((select sum(pg_total_relation_size(oid)) from pg_class
        where relnamespace::regnamespace::text in (${SCHEMAS}) and relkind = 'r'), 0)::bigint as bytes`,
  );
  return {
    problems: problems.slice(0, SHOWN),
    more_problems: Math.max(problems.length - SHOWN, 0),
    runs: Number(counts?.["runs"]),
    bytes: Number(counts?.["bytes"]),
    free_bytes: 0,
    vectors: await describeVectors(db),
  };
}

export async function migrateStore(db: PostgresDatabase): Promise<StoreMigration> {
  const steps = await migrate(db);
  await makeVectorTable(db);
  return { ...steps, vectors: await describeVectors(db) };
}

/** Postgres keeps the space for itself and uses it again, and updates its statistics. */
export async function vacuumStore(
  db: PostgresDatabase,
): Promise<{ readonly before: number; readonly after: number }> {
  const before = (await checkSize(db)) ?? 0;
  const tables = await db.all(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in (${SCHEMAS}) order by name`,
  );
  for (const { name } of tables) {
    await db.write(({ run }) => run(`vacuum (analyze) ${String(name)}`));
  }
  return { before, after: (await checkSize(db)) ?? 0 };
}

async function checkSize(db: PostgresDatabase): Promise<number> {
  const row = await db.get("select pg_database_size(current_database()) as bytes");
  return Number(row?.["bytes"]);
}

/** Postgres's own tools make copies of one moment, or of all moments since. */
export function refuseBackUp(name: string): never {
  const message = `The store \`${name}\` is backed up with Postgres's own tools: \`pg_dump --format=custom --schema=offshoot --file=FILE ADDRESS\`.`;
  throw new Failure("invalid_request", message);
}

export function refuseCopy(name: string): never {
  const message = `The store \`${name}\` is in Postgres already: \`store copy\` moves a file of SQLite there. Name the file with \`--store PATH\`.`;
  throw new Failure("invalid_request", message);
}

/** How a database searches vectors, for its operators. */
async function describeVectors(db: Reads): Promise<VectorReport> {
  const table = await findVectorTable(db);
  if (!table) return { search: "memory", detail: await findReason(db) };
  const counts = await countLengths(db);
  const lacking = [...counts.keys()].filter(
    (length) => length <= MAX_INDEXED_LENGTH && !table.lengths.has(length),
  );
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const advice =
    lacking.length > 0
      ? `; no index for length ${lacking.join(", ")}: run \`offshoot store migrate\``
      : "";
  return { search: "pgvector", detail: `pgvector ${table.version}, ${all} vectors${advice}` };
}

async function findReason(db: Reads): Promise<string> {
  const found = await findPgvector(db);
  switch (found.kind) {
    case "missing":
      return "this server does not have pgvector";
    case "old":
      return `pgvector ${found.version} is too old: install ${LEAST_VERSION} or later, run \`alter extension vector update\`, then \`offshoot store migrate\``;
    case "creatable":
      return "pgvector is on this server, but not in this database: run `create extension vector` as a superuser, then `offshoot store migrate`";
    case "usable":
      return "the vectors are not all in the form that pgvector searches: run `offshoot store migrate`, with a user that may make schemas";
  }
}
