/** The provider contract over every wire. Special features of a wire are in its own tests. */

import { after, describe } from "node:test";
import { createTransport } from "../../src/providers/http/transport.ts";
import type { Upstream } from "../../src/testing/index.ts";
import { CONTRACT_WIRES, providerOver } from "./contract-wires.ts";
import { describeProvider, type OpenUpstream } from "./provider-contract.ts";
import { describeRequests } from "./request-contract.ts";

const transport = createTransport({});
const upstreams: Upstream[] = [];

// In parallel: most of the time is spent waiting for a silent server.
describe("every wire", { concurrency: 10 }, () => {
  for (const row of CONTRACT_WIRES) {
    const open: OpenUpstream = async (engine, { faults, isSilent = false } = {}) => {
      const upstream = await row.start({ engine, ...(faults ? { faults } : {}) });
      upstreams.push(upstream);
      return { upstream, provider: await providerOver(row, upstream, { transport, isSilent }) };
    };
    describeProvider(row.name, open, row.traits);
    if (row.words) describeRequests(row.name, open, row.words);
  }
});

// Connections are kept for the next request, and a failed test closes nothing: both would keep the test
// process alive.
after(async () => {
  await transport.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});
