import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toCopyTarget } from "../../../src/runtime/config/store-address.ts";

const PLAIN = "postgres://me@db.example/offshoot";
const SECRET = "postgres://me:geheim@db.example/offshoot";
const OTHER = "postgres://me:geheim@db.example/other";

describe("the target of a copied record", () => {
  it("comes from the flag, with the password that a variable has for it", () => {
    assert.equal(toCopyTarget(PLAIN, {}), PLAIN);
    assert.equal(toCopyTarget(PLAIN, { OFFSHOOT_STORE_TO: SECRET }), SECRET);
    assert.equal(toCopyTarget(PLAIN, { OFFSHOOT_STORE: SECRET }), SECRET);
    assert.equal(toCopyTarget(PLAIN, { OFFSHOOT_STORE_TO: OTHER }), PLAIN);
  });

  it("comes from the variable without a flag, and is never the record in use", () => {
    assert.equal(toCopyTarget(undefined, { OFFSHOOT_STORE_TO: ` ${SECRET}\n` }), SECRET);
    assert.throws(() => toCopyTarget(undefined, { OFFSHOOT_STORE: SECRET }), /is missing/);
  });

  it("is not a file, and has no password in the flag", () => {
    const refusal = { code: "invalid_request", message: /^(?!.*geheim)/ };
    for (const flag of [
      "",
      "runs.db",
      "mysql://me:geheim@db",
      SECRET,
      `${PLAIN}?password=geheim`,
    ]) {
      assert.throws(() => toCopyTarget(flag, {}), refusal, flag);
    }
  });
});
