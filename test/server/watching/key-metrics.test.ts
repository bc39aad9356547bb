import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKeyMetrics } from "../../../src/server/watching/key-metrics.ts";
import { createRegistry, renderMetrics } from "../../../src/server/watching/metrics.ts";

describe("the numbers of keys", () => {
  it("are by key and tenant, with the tokens whose price is not known", () => {
    const registry = createRegistry();
    const count = createKeyMetrics(registry);
    const who = { keyId: "k1", tenant: "team" };
    count(who, { requests: 1 });
    count(who, { tokens: 30, usd: 0.5 });
    count(who, { tokens: 10, usd: 0, unpriced: 10 });
    const text = renderMetrics(registry.read());
    for (const [name, value] of [
      ["requests_total", 1],
      ["tokens_total", 40],
      ["cost_usd_total", 0.5],
      ["unpriced_tokens_total", 10],
    ]) {
      assert.ok(text.includes(`offshoot_key_${name}{key="k1",tenant="team"} ${value}\n`), text);
    }
  });
});
