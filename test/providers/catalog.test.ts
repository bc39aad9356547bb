import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isVendor, VENDOR_NAMES, vendorOf } from "../../src/providers/catalog.ts";
import { PROVIDERS } from "../../src/providers/provider-names.ts";

describe("the vendor catalogue", () => {
  for (const name of VENDOR_NAMES) {
    it(`has a usable row for ${name}`, () => {
      const { baseUrl, alternatives = {}, wire, keyVariable, local, summary } = vendorOf(name);
      assert.match(name, /^[a-z]+$/);
      assert.ok(summary !== "");
      assert.ok(baseUrl === "" || (URL.canParse(baseUrl) && !baseUrl.endsWith("/")));
      if (!local) assert.match(keyVariable ?? "", /^[A-Z_]+$/);
      if (!local) assert.match(baseUrl || "https://", /^https:/);
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
