/** What keys use, by the ids of the keys: there are as many as somebody made, and the registry has a bound. */

import type { Amounts } from "../../store/spending.ts";
import type { Registry } from "./metrics.ts";

export function createKeyMetrics(
  registry: Registry,
): (keyId: string, used: Partial<Amounts>) => void {
  const counters = {
    requests: registry.counter("offshoot_key_requests_total", "Requests, by the id of the key."),
    tokens: registry.counter(
      "offshoot_key_tokens_total",
      "Tokens of models, embeddings and images, by the id of the key.",
    ),
    usd: registry.counter("offshoot_key_cost_usd_total", "US dollars, by the id of the key."),
  };
  return (keyId, used) => {
    for (const [unit, counter] of Object.entries(counters)) {
      const amount = used[unit as keyof Amounts] ?? 0;
      if (amount > 0) counter.add({ key: keyId }, amount);
    }
  };
}
