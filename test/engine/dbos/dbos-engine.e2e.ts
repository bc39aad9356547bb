/** The engine on DBOS over a record in Postgres: the same suites as our own engine, on a real server. */

import { after, it } from "node:test";
import { setUpDbos } from "../../../src/engine/dbos/set-up-dbos.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { POSTGRES_LACK, startPostgres } from "../../store/postgres/postgres-server.ts";
import { describeBooking } from "../booking-contract.ts";
import { describeCancelling } from "../cancel-contract.ts";
import { describeDraining } from "../drain-contract.ts";
import { describeEngine } from "../engine-contract.ts";
import { describeFollow } from "../follow-contract.ts";
import { describeFollowing } from "../following-contract.ts";
import { describeJournalVersions } from "../journal-version-contract.ts";
import type { LocalBench } from "../local-fixture.ts";
import { describeNoted } from "../noted-contract.ts";
import { describeOwnership } from "../ownership-contract.ts";
import { describePlacement } from "../placement-contract.ts";
import { describeQueues } from "../queue-contract.ts";
import { describeRecord } from "../record-contract.ts";
import { describeStages } from "../stage-contract.ts";
import { describeStandstill } from "../standstill-contract.ts";
import { describeTaking } from "../take-contract.ts";
import { openDbosBench } from "./dbos-fixture.ts";

const NAME = "DBOS engine";
const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

if (server === undefined) {
  it(`${NAME} (skipped: ${POSTGRES_LACK})`, { skip: true }, () => {});
} else {
  // Created once and copied: DBOS creates its tables in many steps.
  const made = await server.newAddress();
  const kept = await openKept(made);
  await kept.runs();
  await kept.close();
  await setUpDbos(made);
  const openBench = async (): Promise<LocalBench> => openDbosBench(await server.newAddress(made));
  describeEngine(NAME, openBench);
  describeOwnership(NAME, openBench);
  describePlacement(NAME, openBench);
  describeCancelling(NAME, openBench);
  describeFollow(NAME, openBench);
  describeFollowing(NAME, openBench);
  describeDraining(NAME, openBench);
  describeQueues(NAME, openBench);
  describeTaking(NAME, openBench);
  describeRecord(NAME, openBench);
  describeStages(NAME, openBench);
  describeStandstill(NAME, openBench);
  describeJournalVersions(NAME, openBench);
  describeBooking(NAME, openBench);
  describeNoted(NAME, openBench);
}
