import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VENDOR_NAMES, type VendorName, vendorOf } from "../../../src/providers/vendors/catalog.ts";
import {
  FEATURE_NAMES,
  type FeatureName,
  featuresOf,
} from "../../../src/providers/vendors/features.ts";
import { loadWire } from "../../../src/providers/wires.ts";

async function namesOf(vendor: VendorName): Promise<readonly FeatureName[]> {
  const wire = await loadWire(vendorOf(vendor).wire);
  return featuresOf(vendor, wire).map(({ name }) => name);
}

describe("the table of vendors' native features", () => {
  const rows: Partial<Record<VendorName, readonly FeatureName[]>> = {
    perplexity: ["citations", "told cost"],
    cohere: ["thinking", "citations", "embeddings"],
    llamacpp: ["thinking"],
  };
  for (const [vendor, features] of Object.entries(rows)) {
    it(`has ${features.join(", ")} of ${vendor}`, async () => {
      const known = await namesOf(vendor as VendorName);
      for (const name of features) assert.ok(known.includes(name), known.join());
    });
  }

  it("names the vendors that report an answer's cost, as their rows do", async () => {
    for (const vendor of VENDOR_NAMES) {
      const names = await namesOf(vendor);
      assert.equal(names.includes("told cost"), vendorOf(vendor).quirks.tellsCost === true, vendor);
    }
  });

  it("has no feature that no vendor has", async () => {
    const all = (await Promise.all(VENDOR_NAMES.map(namesOf))).flat();
    for (const name of FEATURE_NAMES) assert.ok(all.includes(name), name);
  });
});
