/** Everything in memory, for programs that must not write to disk. */

import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { Audit } from "../audit.ts";
import type { KeptRecord, Maintenance } from "../kept.ts";
import { once } from "../once.ts";
import { createMemoryRecord } from "./memory-store.ts";

export function createMemoryKept(): KeptRecord {
  const { store, openIndex, owners } = createMemoryRecord();
  let opened: Audit | undefined;
  // A shelf counts and removes the runs that belong to its things.
  const shelf = once(async () => (await import("./memory-shelf.ts")).createMemoryShelf(store));
  return {
    record: async () => store,
    index: async () => openIndex(),
    state: once(async () => {
      const { createMemoryState } = await import("./memory-state.ts");
      return createMemoryState(owners, openIndex(), await shelf());
    }),
    runs: async () => store,
    bookWith: (spending) => store.keepSpending?.(spending),
    shelf,
    chunks: once(async () => (await import("../sqlite/sqlite-chunks.ts")).openMemoryChunks()),
    spending: once(async () => (await import("./memory-spending.ts")).createMemorySpending(store)),
    audit: once(async () => {
      opened = (await import("./memory-audit.ts")).createMemoryAudit();
      return opened;
    }),
    clock: async () => systemClock,
    places: async () => undefined,
    limits: async () => undefined,
    maintenance: MAINTENANCE,
    async close() {
      await opened?.close();
    },
  };
}

const refuse = async (): Promise<never> => {
  throw new Failure("invalid_request", "A record in memory has no file to maintain.");
};

const MAINTENANCE: Maintenance = {
  exists: async () => false,
  probe: async () => {},
  version: async () => "memory",
  refuseDamaged: async () => true,
  checkWritable: async () => {},
  checkBeside: refuse,
  check: refuse,
  backUp: refuse,
  vacuum: refuse,
  migrate: refuse,
  copyTo: refuse,
};
