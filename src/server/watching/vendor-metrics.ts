/** The calls that the limiters of vendors admit in this process, and those that wait. */

import type { Limiter } from "../../providers/limits/limiter.ts";
import type { Limiters } from "../../providers/limits/limiters.ts";
import type { Registry, Sample } from "./metrics.ts";

/** Several accounts at one vendor are counted together. */
export function watchVendors(
  { gauge }: Registry,
  { limiters, worker }: { readonly limiters: Limiters; readonly worker: string },
): void {
  const read = (
    of: (limiter: Limiter) => number,
    join: (a: number, b: number) => number = (a, b) => a + b,
  ): readonly Sample[] => {
    const values = new Map<string, number>();
    for (const limiter of limiters.report?.() ?? []) {
      values.set(limiter.vendor, join(values.get(limiter.vendor) ?? 0, of(limiter)));
    }
    return [...values].map(([vendor, value]) => ({ labels: { vendor, worker }, value }));
  };
  gauge("offshoot_vendor_limit", "Model calls that may be in flight at once.", () =>
    read(({ limit }) => limit),
  );
  gauge("offshoot_vendor_in_flight", "Model calls that are in flight.", () =>
    read(({ inFlight }) => inFlight),
  );
  gauge("offshoot_vendor_waiting", "Model calls that wait for a slot.", () =>
    read(({ waiting }) => waiting),
  );
  gauge("offshoot_vendor_paused_seconds", "For how long the vendor asks all clients to wait.", () =>
    read(({ pausedForMs }) => pausedForMs / 1000, Math.max),
  );
}
