/** Sessions on Postgres: the suite of the other records, on a real server. */

import { after, it } from "node:test";
import { describeSessions } from "../runtime/sessions/sessions-contract.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

if (server === undefined) {
  it(`sessions on Postgres (skipped: ${POSTGRES_LACK})`, { skip: true }, () => {});
} else {
  describeSessions("Postgres", () => server.newAddress());
}
