import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PROVIDERS } from "../../../src/providers/models/provider-names.ts";
import { isVendor, VENDOR_NAMES, vendorOf } from "../../../src/providers/vendors/catalog.ts";
import { isWire, loadWire, WIRES } from "../../../src/providers/wires.ts";

describe("the vendor catalogue", () => {
  for (const name of VENDOR_NAMES) {
    const vendor = vendorOf(name);
    const { wire, alternatives = [] } = vendor;
    const baseUrl = vendor.baseUrl.replace(/\{[A-Z_]+\}/g, "place");

    it(`has a usable row for ${name}`, () => {
      assert.match(name, /^[a-z]+$/);
      assert.ok(vendor.summary !== "");
      assert.ok(baseUrl === "" || (URL.canParse(baseUrl) && !baseUrl.endsWith("/")));
      if (vendor.local) return assert.equal(vendor.defaultModel, undefined);
      const isCloud = vendor.auth === "google" || vendor.auth === "aws";
      if (!isCloud) assert.match(vendor.keyVariable ?? "", /^[A-Z_]+$/);
      assert.match(baseUrl || "https://", /^https:/);
    });

    it(`names the wires of ${name} like --provider`, () => {
      for (const other of alternatives) assert.notEqual(other, wire);
      for (const spoken of [wire, ...alternatives]) assert.ok(Object.hasOwn(PROVIDERS, spoken));
    });
  }

  for (const name of Object.keys(WIRES).filter(isWire)) {
    it(`loads the wire ${name} under its own name`, async () => {
      assert.equal((await loadWire(name)).name, name);
    });
  }

  it("does not take a property of every object for a vendor", () => {
    assert.equal(isVendor("constructor"), false);
    assert.equal(isVendor("openai"), true);
  });
});
