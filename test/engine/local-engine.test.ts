import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { openKept } from "../../src/store/open-kept.ts";
import { describeBooking } from "./booking-contract.ts";
import { describeCancelling } from "./cancel-contract.ts";
import { describeClaims } from "./claim-contract.ts";
import { describeDraining } from "./drain-contract.ts";
import { describeEngine } from "./engine-contract.ts";
import { describeFollow } from "./follow-contract.ts";
import { describeFollowing } from "./following-contract.ts";
import { describeJournalVersions } from "./journal-version-contract.ts";
import {
  type BenchRecord,
  type LocalBench,
  openLocalBench,
  openMemoryRecord,
} from "./local-fixture.ts";
import { describeStoreUse } from "./local-store-use.ts";
import { describeNoted } from "./noted-contract.ts";
import { describeOwnership } from "./ownership-contract.ts";
import { describePlacement } from "./placement-contract.ts";
import { describeQueues } from "./queue-contract.ts";
import { describeRecord } from "./record-contract.ts";
import { describeStages } from "./stage-contract.ts";
import { describeStandstill } from "./standstill-contract.ts";
import { describeTaking } from "./take-contract.ts";

const directory = await mkdtemp(join(tmpdir(), "offshoot-engine-"));
after(() => rm(directory, { recursive: true, force: true }));

let files = 0;
const records: Readonly<Record<string, () => Promise<BenchRecord>>> = {
  "local engine in memory": () => openMemoryRecord(),
  "local engine on SQLite": async () => {
    const kept = await openKept(join(directory, `${files++}.db`));
    const store = await kept.runs();
    const spending = await kept.spending();
    return { store, spending, close: () => kept.close() };
  },
};

for (const [name, open] of Object.entries(records)) {
  const openBench = (): Promise<LocalBench> => openLocalBench(open);
  describeEngine(name, openBench);
  describeOwnership(name, openBench);
  describeClaims(name, openBench);
  describePlacement(name, openBench);
  describeCancelling(name, openBench);
  describeFollow(name, openBench);
  describeFollowing(name, openBench);
  describeDraining(name, openBench);
  describeQueues(name, openBench);
  describeTaking(name, openBench);
  describeRecord(name, openBench);
  describeStages(name, openBench);
  describeStandstill(name, openBench);
  describeJournalVersions(name, openBench);
  describeStoreUse(name, openBench);
  describeBooking(name, openBench);
  describeNoted(name, openBench);
}
