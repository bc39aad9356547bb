import { createMemoryLimits } from "../../src/store/memory/memory-limits.ts";
import { createManualClock } from "../../src/testing/index.ts";
import { describeVendorLimits } from "./vendor-limits-contract.ts";

describeVendorLimits("the limits of a process", async () => {
  const clock = createManualClock(1_000_000);
  return { limits: createMemoryLimits(clock), age: (ms) => clock.advance(ms) };
});
