/** The state of a record in memory. */

import { type KindCount, MAX_COUNTED, MAX_WORKERS, type RecordState } from "../record-state.ts";
import type { RunIndex } from "../run-index.ts";
import type { CountedShelf } from "./memory-shelf.ts";
import type { MemoryOwners } from "./memory-store.ts";

export function createMemoryState(
  owners: MemoryOwners,
  index: RunIndex,
  shelf: CountedShelf,
): RecordState {
  return {
    async listWorkers(nowMs) {
      const living = owners.workers().filter(({ beat_at_ms }) => beat_at_ms > 0);
      return [...living]
        .sort((a, b) => b.beat_at_ms - a.beat_at_ms)
        .slice(0, MAX_WORKERS)
        .map(({ id, host, pid, beat_at_ms, runs }) => {
          return { id, host, pid, runs, silent_ms: Math.max(0, nowMs - beat_at_ms) };
        });
    },
    async listLanes() {
      return [...owners.lanes()].sort(
        (a, b) => compare(a.queue, b.queue) || b.waiting - a.waiting || compare(a.lane, b.lane),
      );
    },
    async listStorage() {
      const tenants = new Set([...shelf.names()].map(({ tenant }) => tenant));
      const rows = [...tenants].map(async (tenant) => {
        return { tenant, bytes: await shelf.countBytes(tenant) };
      });
      const counted = await Promise.all(rows);
      return counted.sort((a, b) => b.bytes - a.bytes || compare(a.tenant, b.tenant));
    },
    async countKinds() {
      const counts = new Map<string, KindCount>();
      const add = (tenant: string, kind: string): void => {
        const name = JSON.stringify([tenant, kind]);
        const count = Math.min(MAX_COUNTED, (counts.get(name)?.count ?? 0) + 1);
        counts.set(name, { tenant, kind, count });
      };
      for (const { tenant, kind } of shelf.names()) add(tenant, kind);
      const all = { tenant: undefined, limit: Number.MAX_SAFE_INTEGER };
      for (const { tenant } of await index.listRuns(all)) add(tenant, "run");
      return [...counts.values()].sort(
        (a, b) => compare(a.tenant, b.tenant) || compare(a.kind, b.kind),
      );
    },
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
