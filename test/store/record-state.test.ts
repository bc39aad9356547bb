import { openKept } from "../../src/store/open-kept.ts";
import { newDatabasePath } from "./database-path.ts";
import { describeFailedCalls } from "./failed-calls-contract.ts";
import { describeRecordState } from "./record-state-contract.ts";

for (const describeOne of [describeRecordState, describeFailedCalls]) {
  describeOne("memory", () => openKept(undefined));
  describeOne("SQLite", () => openKept(newDatabasePath()));
}
