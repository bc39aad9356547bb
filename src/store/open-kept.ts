/**
 * The one door to what is kept: an address says where. Nothing is opened, and nothing of a database is
 * loaded, before the first part is asked for.
 */

import { fileURLToPath } from "node:url";
import { Failure } from "../base/failure.ts";
import type { Kept } from "./kept.ts";

/**
 * `undefined` and `memory:` for memory; a path, `sqlite:PATH` or `file:` for a file of SQLite. Throws
 * `invalid_request` for an address of anything else.
 */
export async function openKept(address: string | undefined): Promise<Kept> {
  const place = parseAddress(address);
  if (place === undefined) {
    const { createMemoryKept } = await import("./memory/memory-kept.ts");
    return createMemoryKept();
  }
  const { createSqliteKept } = await import("./sqlite/sqlite-kept.ts");
  return createSqliteKept(place);
}

/** The path of a file; undefined for memory. */
function parseAddress(address: string | undefined): string | undefined {
  if (address === undefined || address === "memory:") return undefined;
  const [, scheme] = /^([a-z][a-z0-9+.-]+):/i.exec(address) ?? [];
  switch (scheme?.toLowerCase()) {
    case "sqlite":
      return address.slice("sqlite:".length);
    case "file":
      return toPath(address);
    // A database of its own is added here, and loaded above.
    case "postgres":
    case "postgresql":
      throw refuse("A record in Postgres is not supported by this build.");
    default:
      // Never the whole address: it may hold a password.
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
  const message = `${reason} Give the path of a file, \`sqlite:PATH\` or \`memory:\`.`;
  return new Failure("invalid_request", message, { cause });
}
