/**
 * A Postgres with pgvector for tests: the server of `OFFSHOOT_TEST_POSTGRES` if it has the extension, or an
 * installation of this machine that has it. The npm package in `test/postgres` does not.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { isRecent, LEAST_VERSION } from "../../../src/store/postgres/pgvector.ts";
import type { Lack } from "../../needs.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

const GIVEN = process.env["OFFSHOOT_TEST_POSTGRES"];
/** Where Debian and its derivatives put each major version. */
const DEBIAN = "/usr/lib/postgresql";
const DEBIAN_SHARE = "/usr/share/postgresql";

const PROGRAMS = GIVEN ? undefined : findPrograms();

/** Why no server with pgvector can be used here; undefined if one can. */
export const PGVECTOR_LACK: Lack = (await hasPgvector())
  ? undefined
  : `there is no Postgres with pgvector ${LEAST_VERSION} or later`;

export async function startPgvector({ durable = false } = {}): Promise<PostgresServer> {
  return await startPostgres({ durable, programs: PROGRAMS });
}

async function hasPgvector(): Promise<boolean> {
  if (!GIVEN) return PROGRAMS !== undefined;
  const client = new pg.Client({ connectionString: GIVEN });
  await client.connect();
  try {
    const sql = "select default_version from pg_available_extensions where name = 'vector'";
    const { rows } = await client.query<{ default_version: string }>(sql);
    return rows.some(({ default_version }) => isRecent(default_version));
  } finally {
    await client.end();
  }
}

/** The folder with `postgres` and `initdb` of an installation that has the extension. */
function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const debian = versions.map((version) => ({
    programs: join(DEBIAN, version, "bin"),
    share: join(DEBIAN_SHARE, version),
  }));
  return [...askConfig(), ...debian].find(({ programs, share }) => {
    const control = join(share, "extension", "vector.control");
    if (!existsSync(join(programs, "initdb")) || !existsSync(control)) return false;
    const version = /default_version = '([^']+)'/.exec(readFileSync(control, "utf8"))?.[1];
    return version !== undefined && isRecent(version);
  })?.programs;
}

function askConfig(): { readonly programs: string; readonly share: string }[] {
  const { stdout, status } = spawnSync("pg_config", ["--bindir", "--sharedir"], {
    encoding: "utf8",
  });
  const [programs, share] = status === 0 ? stdout.trim().split("\n") : [];
  return programs && share ? [{ programs, share }] : [];
}
