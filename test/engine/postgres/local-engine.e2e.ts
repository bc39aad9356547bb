/** The engine over a record in Postgres: the same suites as over SQLite and memory, on a real server. */

import { after, it } from "node:test";
import { openKept } from "../../../src/store/open-kept.ts";
import { POSTGRES_LACK, startPostgres } from "../../store/postgres/postgres-server.ts";
import { describeBooking } from "../booking-contract.ts";
import { describeCancelling } from "../cancel-contract.ts";
import { describeClaims } from "../claim-contract.ts";
import { describeDraining } from "../drain-contract.ts";
import { describeEngine } from "../engine-contract.ts";
import { describeFollow } from "../follow-contract.ts";
import { describeFollowing } from "../following-contract.ts";
import { describeJournalVersions } from "../journal-version-contract.ts";
import {
  type BenchRecord,
  type LocalBench,
  openLocalBench,
  withoutNews,
} from "../local-fixture.ts";
import { describeNoted } from "../noted-contract.ts";
import { describeOwnership } from "../ownership-contract.ts";
import { describePlacement } from "../placement-contract.ts";
import { describeQueues } from "../queue-contract.ts";
import { describeRecord } from "../record-contract.ts";
import { describeStages } from "../stage-contract.ts";
import { describeStandstill } from "../standstill-contract.ts";
import { describeTaking } from "../take-contract.ts";

const NAME = "local engine on Postgres";
const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

async function openRecord(): Promise<BenchRecord> {
  const kept = await openKept(await server?.newAddress());
  return {
    store: withoutNews(await kept.runs()),
    spending: await kept.spending(),
    close: () => kept.close(),
  };
}

if (server === undefined) {
  it(`${NAME} (skipped: ${POSTGRES_LACK})`, { skip: true }, () => {});
} else {
  const openBench = (): Promise<LocalBench> => openLocalBench(openRecord);
  describeEngine(NAME, openBench);
  describeOwnership(NAME, openBench);
  describeClaims(NAME, openBench);
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
