/**
 * The most bytes that a tenant may keep: the least of what its keys say, else what the server says.
 */

import type { Clock } from "../../base/clock.ts";
import type { QuotaOf } from "../../store/quota-shelf.ts";
import type { Shelf } from "../../store/shelf.ts";
import { REMEMBERED_MS, stateOf } from "./key.ts";
import { listKeys } from "./keys.ts";

interface QuotaParts {
  /** The shelf with the keys. */
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** The limit for tenants whose keys have none. Read each time, because settings change. */
  readonly usual: () => number | undefined;
}

export function createQuotas({ shelf, clock, usual }: QuotaParts): QuotaOf {
  let known = new Map<string, number>();
  let untilMs = Number.NEGATIVE_INFINITY;

  async function look(nowMs: number): Promise<void> {
    const least = new Map<string, number>();
    for (const key of await listKeys(shelf)) {
      const quota = key.limits.storage_bytes;
      if (quota === undefined || stateOf(key, nowMs) !== "active") continue;
      least.set(key.tenant, Math.min(quota, least.get(key.tenant) ?? quota));
    }
    known = least;
    untilMs = nowMs + REMEMBERED_MS;
  }
  return async (tenant) => {
    const nowMs = clock.now();
    if (nowMs >= untilMs) await look(nowMs);
    return known.get(tenant) ?? usual();
  };
}
