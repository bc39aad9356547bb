/** The usage and reservations of keys, for servers that must not write to disk. */

import type { KeyHold } from "../holds.ts";
import type { Amounts, Spending } from "../spending.ts";
import { createRowSpending, type HoldRows, mapUnits, type SpendingRows } from "../spending-rows.ts";
import type { Store } from "../store.ts";

/** `runs` is the store of the same record, which books what its runs have used. */
export function createMemorySpending(runs?: Pick<Store, "keepSpending">): Spending {
  const spending = createRowSpending(createMemoryRows());
  runs?.keepSpending?.(spending);
  return spending;
}

function createMemoryRows(): SpendingRows {
  const keys = new Map<string, Map<string, Amounts>>();
  const holds = createMemoryHolds();
  return {
    transact: async (work) => work(),
    get: (keyId, window) => keys.get(keyId)?.get(window),
    list: (window) =>
      [...keys].flatMap(([keyId, windows]) => {
        const used = windows.get(window);
        return used ? [{ keyId, ...used }] : [];
      }),
    add(keyId, windows, more) {
      const all = keys.get(keyId) ?? new Map<string, Amounts>();
      keys.set(keyId, all);
      for (const window of windows) {
        const used = all.get(window);
        all.set(window, used ? mapUnits((unit) => used[unit] + more[unit]) : more);
      }
    },
    prune(before) {
      for (const windows of keys.values()) {
        for (const window of windows.keys()) {
          if (window.includes("T") && window < before) windows.delete(window);
        }
      }
    },
    forget(keyId) {
      keys.delete(keyId);
      for (const { id } of holds.holdsOf(keyId)) holds.endHold(id);
    },
    ...holds,
  };
}

function createMemoryHolds(): HoldRows {
  const all = new Map<string, { readonly keyId: string; hold: KeyHold; beatMs: number }>();
  return {
    holdsOf: (keyId) =>
      [...all.values()].filter((row) => row.keyId === keyId).map(({ hold }) => hold),
    putHold: (keyId, hold, beatMs) => void all.set(hold.id, { keyId, hold, beatMs }),
    endHold: (id) => void all.delete(id),
    keepHolds(ids, nowMs) {
      for (const id of ids) {
        const row = all.get(id);
        if (row) row.beatMs = nowMs;
      }
    },
    listStaleHolds: ({ beforeMs, after = "", limit }) =>
      [...all]
        .filter(([id, { beatMs }]) => id > after && beatMs < beforeMs)
        .map(([id]) => id)
        .sort()
        .slice(0, limit),
    dropHolds(ids, beforeMs) {
      for (const id of ids) if ((all.get(id)?.beatMs ?? beforeMs) < beforeMs) all.delete(id);
    },
  };
}
