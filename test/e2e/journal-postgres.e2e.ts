/**
 * A rollout on Postgres, seen by the older program: a response whose journal has a newer version is left
 * alone until a program with that version takes it over. The test sets only the version number in the
 * record, like a newer program would.
 */

import assert from "node:assert/strict";
import { after, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { JOURNAL_VERSION } from "../../src/store/journal-version.ts";
import { unless } from "../needs.ts";
import { until, untilTrue } from "../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createPlace } from "./command.ts";
import { serve, slowModel, startSlowUpstream } from "./served.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

const possibly = unless(POSTGRES_LACK);

it(...possibly("an older program leaves a response of a newer one alone"), async () => {
  const postgres = server ?? assert.fail();
  const address = await postgres.newAddress();
  await using place = await createPlace();
  await using upstream = await startSlowUpstream();
  const env = { OFFSHOOT_STORE: address };
  const args = slowModel(upstream);
  const first = await serve({ place, args, env });
  const newer = await first.create({ input: "Hi", background: true });
  const older = await first.create({ input: "Hi", background: true });
  await until(async () => (upstream.open === 2 ? true : undefined), "both are being answered");
  first.command.child.kill("SIGKILL");
  await first.command.ended;
  const run = newer.id.replace(/^resp_/, "run_");
  const setVersion = (version: number): Promise<unknown> =>
    postgres.query(address, `update offshoot.runs set journal = ${version} where id = '${run}'`);
  await setVersion(JOURNAL_VERSION + 1);
  upstream.finish();
  await using second = await serve({ place, args, env });
  const read = async (id: string): Promise<EmittedResponse> =>
    (await second.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
  // It takes over what it can read. By then it has seen both.
  await untilTrue(async () => (await read(older.id)).status === "completed", "the older one ends");
  const left = await read(newer.id);
  assert.deepEqual([left.status, left.output], ["in_progress", []]);
  const [row] = await postgres.query(
    address,
    `select epoch::int, status from offshoot.runs where id = '${run}'`,
  );
  assert.deepEqual(row, { epoch: 1, status: "running" });

  const shown = await place.run(["runs", "show", run], { env });
  assert.match(shown.stdout + shown.stderr, /newer/);
  const cancelled = await second.ask("POST", `/v1/responses/${newer.id}/cancel`);
  assert.equal(cancelled.status, 409, JSON.stringify(cancelled.body));

  // Now a program with that version exists: for this one the number is its own.
  await setVersion(JOURNAL_VERSION);
  await untilTrue(async () => (await read(newer.id)).status === "completed", "the newer one ends");
});
