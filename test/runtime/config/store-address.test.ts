import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isStoreAddress, withoutPassword } from "../../../src/runtime/config/address-text.ts";
import { toCopyTarget } from "../../../src/runtime/config/store-address.ts";

const PLAIN = "postgres://me@db.example/offshoot";
const SECRET = "postgres://me:geheim@db.example/offshoot";
const OTHER = "postgres://me:geheim@db.example/other";
/** Passwords with characters that mean something in an address. */
const UNESCAPED = ["%", "#", "/", "?", " ", "@"].map(
  (letter) => `postgres://me:ge${letter}heim@db.example/offshoot`,
);

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
      ...UNESCAPED,
    ]) {
      assert.throws(() => toCopyTarget(flag, {}), refusal, flag);
    }
  });
});

describe("a password in the address of a record", () => {
  for (const address of [SECRET, `${PLAIN}?password=geheim`, ...UNESCAPED]) {
    it(`of ${address} is never shown, and refused as a setting`, () => {
      assert.doesNotMatch(withoutPassword(address), /heim/);
      assert.match(withoutPassword(address), /^postgres:\/\/me@db\.example\/offshoot$/);
      assert.equal(isStoreAddress(address), false);
    });
  }

  it("is not seen where there is none", () => {
    for (const address of [PLAIN, "postgres://db/offshoot", "postgres://db:5432/a@b", "runs.db"]) {
      assert.equal(withoutPassword(address), address);
      assert.equal(isStoreAddress(address), true);
    }
  });
});
