/**
 * The cost that a vendor reports, as the cost of a run: in its budget, its record and its replay.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { startOpenUpstream } from "../open-upstream.ts";

describe("a run on a vendor that reports what its answers cost", () => {
  it("costs that, obeys a limit in dollars, and is replayed as it was", async (t) => {
    const vendor = await startOpenUpstream(() => ({ usage: { cost: 0.25 } }));
    const runtime = await createRuntime({ env: { OPENROUTER_API_KEY: "k" } });
    t.after(async () => {
      await runtime.close();
      await vendor.close();
    });
    const asked = { model: "openrouter/a/b", input: "Hi", url: vendor.url, root: "/" };
    const run = await runtime.run({ ...asked, limits: { ...NO_LIMITS, usd: 1 } });
    const end = await run.result();
    assert.deepEqual([end.ending, end.cost_usd, end.spent["usd"]], ["completed", 0.25, 0.25]);
    const replayed = await runtime.replay({ id: run.id });
    assert.equal(replayed.divergence, undefined);
    assert.equal(replayed.end.cost_usd, 0.25);
    assert.equal(vendor.sent.length, 1);
  });

  it("gets a notice of an impossible cost, and does not count it", async (t) => {
    const vendor = await startOpenUpstream(() => ({ usage: { cost: 1e300 } }));
    const runtime = await createRuntime({ env: { OPENROUTER_API_KEY: "k" } });
    t.after(async () => {
      await runtime.close();
      await vendor.close();
    });
    const asked = { model: "openrouter/a/b", input: "Hi", url: vendor.url, root: "/" };
    const run = await runtime.run(asked);
    const notices: string[] = [];
    for await (const batch of run.follow()) {
      for (const { event } of batch) {
        if (event.type === "notice") notices.push(`${event.code}: ${event.message}`);
      }
    }
    assert.match(
      notices.join("\n"),
      /^cost: The vendor says that this answer cost \$1\.00e\+300\./,
    );
    assert.equal((await run.result()).cost_usd, null);
  });

  it("is refused on other vendors, where its cost would be unknown", async (t) => {
    const runtime = await createRuntime({ env: {} });
    t.after(() => runtime.close());
    const asked = { model: "custom/m", input: "Hi", url: "http://127.0.0.1:1/v1", root: "/" };
    const limits = { ...NO_LIMITS, usd: 1 };
    await assert.rejects(runtime.run({ ...asked, limits }), /price is not known/);
  });
});
