/** How a database searches vectors, for the people who run it. */

import type { VectorReport } from "../kept.ts";
import { findPgvector, LEAST_VERSION, MAX_INDEXED_LENGTH } from "./pgvector.ts";
import type { Reads } from "./postgres-database.ts";
import { countLengths, findVectorTable } from "./vector-table.ts";

export async function describeVectors(db: Reads): Promise<VectorReport> {
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
