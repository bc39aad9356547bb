/**
 * The choice of the tests that ask a server over HTTP: `OFFSHOOT_TEST_SERVERS=postgres` gives each of them three servers
 * on one Postgres, behind a round-robin proxy, in place of the one that it would start. The tests are the same.
 */

import assert from "node:assert/strict";
import { after } from "node:test";
import { Agent, setGlobalDispatcher } from "undici";
import { startRoundRobin } from "./round-robin.ts";
import {
  POSTGRES_LACK,
  type PostgresServer,
  startPostgres,
} from "./store/postgres/postgres-server.ts";

const CHOICE = process.env["OFFSHOOT_TEST_SERVERS"];
assert.ok(
  CHOICE === undefined || CHOICE === "postgres",
  `OFFSHOOT_TEST_SERVERS is \`postgres\` or nothing, not \`${CHOICE}\``,
);

/** Whether a test's server is three. */
export const IS_REPLICATED = CHOICE === "postgres";

let postgres: Promise<PostgresServer> | undefined;
const closers: (() => Promise<unknown>)[] = [];
if (IS_REPLICATED) {
  after(async () => {
    for (const close of closers) await close();
    await (await postgres)?.[Symbol.asyncDispose]();
  });
}

/** Called when all tests of the process are over, while its databases are still there. */
export function closeAtEnd(close: () => Promise<unknown>): void {
  closers.push(close);
}

/** The address of a new, empty database. The process has one Postgres, which ends with it. */
export async function newSharedRecord(): Promise<string> {
  assert.ok(POSTGRES_LACK === undefined, POSTGRES_LACK ?? "");
  postgres ??= startShared();
  return await (await postgres).newAddress();
}

async function startShared(): Promise<PostgresServer> {
  // A connection for each request: the next one goes to the next server.
  setGlobalDispatcher(new Agent({ pipelining: 0 }));
  return await startPostgres();
}

/** All rows of all tables of such a record, as text. */
export async function readSharedRecord(address: string): Promise<string> {
  const { query } = (await postgres) ?? assert.fail("no record is shared");
  // Bytes that are letters are shown as letters, from the next connection on.
  const database = new URL(address).pathname.slice(1);
  await query(address, `alter database ${database} set bytea_output = 'escape'`);
  const names = await query(
    address,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname like 'offshoot%'`,
  );
  const texts: string[] = [];
  for (const { name } of names) {
    const rows = await query(address, `select t::text as text from ${String(name)} as t`);
    texts.push(...rows.map(({ text }) => String(text)));
  }
  return texts.join("\n");
}

export interface InFront extends AsyncDisposable {
  readonly url: string;
}

/** One address for all of them. */
export async function putInFront(urls: readonly string[]): Promise<InFront> {
  return await startRoundRobin(() => urls);
}
