import assert from "node:assert/strict";
import { isIP } from "node:net";
import { describe, it } from "node:test";
import { resolveHost } from "../../../../src/tools/web/network/resolve-host.ts";
import { patience } from "../../../patience.ts";

describe("resolving a host", () => {
  it("returns addresses as the system knows them", async () => {
    const addresses = await resolveHost("localhost", patience());
    assert.ok(addresses.length > 0);
    for (const address of addresses) assert.notEqual(isIP(address), 0);
  });

  it("names the host that does not resolve", async () => {
    // Longer than a label may be, so that no resolver is asked.
    const host = `${"a".repeat(64)}.example`;
    await assert.rejects(resolveHost(host, patience()), {
      code: "tool_failed",
      message: `The host \`${host}\` does not resolve.`,
    });
  });

  it("does not wait for the system if the call is over", async () => {
    await assert.rejects(resolveHost("localhost", AbortSignal.abort()), { code: "cancelled" });
  });
});
