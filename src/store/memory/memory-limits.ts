/** The limits of vendors' accounts in the memory of one process, for those that it has started. */

import type { Clock } from "../../base/clock.ts";
import {
  DEMAND_MS,
  KNOWN_MS,
  type LimitReport,
  type LimitStanding,
  toLimit,
  type VendorLimit,
  type VendorLimits,
} from "../vendor-limits.ts";

interface Known {
  limit: VendorLimit;
  toldMs: number;
  pausedUntilMs: number;
  readonly demands: Map<string, { readonly calls: number; readonly atMs: number }>;
}

export function createMemoryLimits(clock: Clock): VendorLimits {
  const accounts = new Map<string, Known>();

  function tell(process: string, report: LimitReport, nowMs: number): LimitStanding {
    const { account, demand, pauseMs } = report;
    const last = accounts.get(account);
    const known = last && nowMs - last.toldMs < KNOWN_MS ? last : undefined;
    const limit = toLimit(known?.limit, report);
    const pausedUntilMs = Math.max(known?.pausedUntilMs ?? 0, pauseMs > 0 ? nowMs + pauseMs : 0);
    const demands = known?.demands ?? new Map();
    demands.set(process, { calls: demand, atMs: nowMs });
    for (const [id, { atMs }] of demands) if (nowMs - atMs >= DEMAND_MS) demands.delete(id);
    accounts.set(account, { limit, toldMs: nowMs, pausedUntilMs, demands });
    return {
      account,
      ...limit,
      pauseMs: Math.max(0, pausedUntilMs - nowMs),
      pause: pausedUntilMs,
      demands: [...demands]
        .map(([id, { calls }]) => ({ process: id, calls }))
        .sort((a, b) => (a.process < b.process ? -1 : 1)),
    };
  }

  return {
    async exchange(process, reports) {
      const nowMs = clock.now();
      for (const [account, { toldMs }] of accounts) {
        if (nowMs - toldMs >= KNOWN_MS) accounts.delete(account);
      }
      return reports.map((report) => tell(process, report, nowMs));
    },
  };
}
