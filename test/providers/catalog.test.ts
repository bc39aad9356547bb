import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isVendor, VENDOR_NAMES, vendorOf } from "../../src/providers/catalog.ts";
import { PROVIDERS } from "../../src/providers/provider-names.ts";

describe("the vendor catalogue", () => {
  for (const name of VENDOR_NAMES) {
    const vendor = vendorOf(name);
    const { baseUrl, wire, alternatives = {} } = vendor;

    it(`has a usable row for ${name}`, () => {
      assert.match(name, /^[a-z]+$/);
      assert.ok(vendor.summary !== "");
      assert.ok(baseUrl === "" || (URL.canParse(baseUrl) && !baseUrl.endsWith("/")));
      if (vendor.local) return assert.equal(vendor.defaultModel, undefined);
      assert.match(vendor.keyVariable ?? "", /^[A-Z_]+$/);
      assert.match(baseUrl || "https://", /^https:/);
    });

    it(`names the wires of ${name} as --provider does`, () => {
      for (const [other, speaks] of Object.entries(alternatives)) {
        assert.equal(speaks.name, other);
        assert.notEqual(other, wire.name);
        assert.ok(Object.hasOwn(PROVIDERS, other));
      }
    });
  }

  it("does not take what every object has for a vendor", () => {
    assert.equal(isVendor("constructor"), false);
    assert.equal(isVendor("openai"), true);
  });
});
