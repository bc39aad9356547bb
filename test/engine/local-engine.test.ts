import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { describeCancelling } from "./cancel-contract.ts";
import { describeDraining } from "./drain-contract.ts";
import { describeEngine } from "./engine-contract.ts";
import { describeFollow } from "./follow-contract.ts";
import { type LocalBench, openLocalBench } from "./local-bench.ts";
import { describeStoreUse } from "./local-store-use.ts";
import { describeOwnership } from "./ownership-contract.ts";
import { describeQueues } from "./queue-contract.ts";
import { describeRecord } from "./record-contract.ts";
import { describeTaking } from "./take-contract.ts";

const directory = await mkdtemp(join(tmpdir(), "offshoot-engine-"));
after(() => rm(directory, { recursive: true, force: true }));

let files = 0;
const stores: Readonly<Record<string, () => Promise<Store>>> = {
  "local engine in memory": async () => createMemoryStore(),
  "local engine on SQLite": () => openSqliteStore(join(directory, `${files++}.db`)),
};

for (const [name, createStore] of Object.entries(stores)) {
  const openBench = (): Promise<LocalBench> => openLocalBench(createStore);
  describeEngine(name, openBench);
  describeOwnership(name, openBench);
  describeCancelling(name, openBench);
  describeFollow(name, openBench);
  describeDraining(name, openBench);
  describeQueues(name, openBench);
  describeTaking(name, openBench);
  describeRecord(name, openBench);
  describeStoreUse(name, openBench);
}
