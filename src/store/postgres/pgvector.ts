/**
 * The extension `vector` (pgvector) of a Postgres server: whether it can be used, and where its types are.
 *
 * Vectors are kept as `halfvec` (0.7), which takes half the space and can be indexed up to 4,000 numbers instead of
 * 2,000. Searching one store among many needs scans that continue until enough is found (0.8). Older versions are not
 * used.
 */

import type { Reads } from "./postgres-database.ts";

export interface Pgvector {
  readonly version: string;
  /** The schema that its types and operators are in, quoted for SQL. */
  readonly schema: string;
}

/** `creatable`: the server has it, this database does not. */
export type FoundPgvector =
  | ({ readonly kind: "usable" } & Pgvector)
  | { readonly kind: "creatable"; readonly version: string }
  | { readonly kind: "old"; readonly version: string }
  | { readonly kind: "missing" };

/** The oldest version that is used. */
export const LEAST_VERSION = "0.8.0";
/** The longest vector that an index takes. The database compares longer ones one by one. */
export const MAX_INDEXED_LENGTH = 4000;
/** The longest vector that a column takes. */
export const MAX_LENGTH = 16_000;

const FIND = `select e.extversion as installed, quote_ident(n.nspname) as schema,
    (select default_version from pg_available_extensions where name = 'vector') as available
  from (select 1) as always
  left join pg_extension e on e.extname = 'vector'
  left join pg_namespace n on n.oid = e.extnamespace`;

export async function findPgvector(db: Reads): Promise<FoundPgvector> {
  const row = await db.get(FIND);
  const version = row?.["installed"] ?? row?.["available"] ?? undefined;
  if (version === undefined) return { kind: "missing" };
  const found = { version: String(version) };
  if (!isRecent(found.version)) return { kind: "old", ...found };
  if (row?.["installed"] == null) return { kind: "creatable", ...found };
  return { kind: "usable", ...found, schema: String(row["schema"]) };
}

/** True if a version of pgvector is recent enough. */
export function isRecent(version: string): boolean {
  return LEAST_VERSION.localeCompare(version, "en", { numeric: true }) <= 0;
}
