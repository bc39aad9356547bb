/**
 * The usage of keys, by the ids of the keys and their tenants. There can be any number of keys, so the registry has a
 * bound.
 */

import type { Amounts } from "../../store/spending.ts";
import type { OnUse } from "../guard/budgets.ts";
import type { Registry } from "./metrics.ts";

export function createKeyMetrics(registry: Registry): OnUse {
  const counters = {
    requests: registry.counter(
      "offshoot_key_requests_total",
      "Requests, by the id of the key and its tenant.",
    ),
    tokens: registry.counter(
      "offshoot_key_tokens_total",
      "Tokens of models, embeddings and images, by the id of the key and its tenant.",
    ),
    usd: registry.counter(
      "offshoot_key_cost_usd_total",
      "US dollars, by the id of the key and its tenant.",
    ),
    unpriced: registry.counter(
      "offshoot_key_unpriced_tokens_total",
      "Tokens whose price is not known, by the id of the key and its tenant.",
    ),
  } satisfies Record<keyof Amounts, unknown>;
  return ({ keyId, tenant }, used) => {
    for (const [unit, counter] of Object.entries(counters)) {
      const amount = used[unit as keyof Amounts] ?? 0;
      if (amount > 0) counter.add({ key: keyId, tenant }, amount);
    }
  };
}
