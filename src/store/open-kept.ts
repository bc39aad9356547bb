/**
 * Opens what is kept, by its address: the only way to it. Nothing is opened, and no code of a database is loaded,
 * before the first part is asked for.
 */

import { fileURLToPath } from "node:url";
import { Failure } from "../base/failure.ts";
import type { KeptRecord } from "./kept.ts";

/**
 * `undefined` and `memory:` for memory; a path, `sqlite:PATH` or `file:` for a file of SQLite; `postgres://…` for a
 * database. Throws `invalid_request` for any other address.
 */
export async function openKept(address: string | undefined): Promise<KeptRecord> {
  if (address === undefined || address === "memory:") {
    const { createMemoryKept } = await import("./memory/memory-kept.ts");
    return createMemoryKept();
  }
  if (isPostgres(address)) {
    const { createPostgresKept } = await import("./postgres/postgres-kept.ts");
    return createPostgresKept(address);
  }
  const path = parsePath(address);
  const { createSqliteKept } = await import("./sqlite/sqlite-kept.ts");
  return createSqliteKept(path);
}

/** True if an address names a database that other machines may share. It may contain a password. */
export function isPostgres(address: string): boolean {
  return /^postgres(ql)?:/i.test(address);
}

function parsePath(address: string): string {
  const [, scheme] = /^([a-z][a-z0-9+.-]+):/i.exec(address) ?? [];
  switch (scheme?.toLowerCase()) {
    case "sqlite":
      return address.slice("sqlite:".length);
    case "file":
      return toPath(address);
    default:
      // Never the whole address: it may contain a password.
      if (/^[a-z][a-z0-9+.-]+:\/\//i.test(address)) throw refuse(`\`${scheme}:\` names no store.`);
      return address;
  }
}

function toPath(address: string): string {
  try {
    return fileURLToPath(address);
  } catch (cause) {
    throw refuse("The address of the store names no file of this machine.", cause);
  }
}

function refuse(reason: string, cause?: unknown): Failure {
  const message = `${reason} Give the path of a file, \`sqlite:PATH\`, \`memory:\` or \`postgres://USER@HOST/DATABASE\`.`;
  return new Failure("invalid_request", message, { cause });
}
