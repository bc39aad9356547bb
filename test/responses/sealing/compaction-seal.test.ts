import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCompactionSeal } from "../../../src/responses/sealing/seals.ts";

const KEY = new Uint8Array(32).fill(7);
const context = { summary: "Secret words.", messages: [], tail: [], covered: ["abc"] };

describe("the seal of a compaction", () => {
  it("opens for the tenant it was made for", () => {
    const sealed = createCompactionSeal(KEY, "a").seal(context);
    assert.deepEqual(createCompactionSeal(KEY, "a").open(sealed), context);
    assert.ok(!Buffer.from(sealed.slice(10), "base64url").includes("Secret"));
  });

  it("opens for no other tenant, with no other key, and not when it was changed", () => {
    const seal = createCompactionSeal(KEY, "a");
    const sealed = seal.seal(context);
    assert.equal(createCompactionSeal(KEY, "b").open(sealed), undefined);
    assert.equal(createCompactionSeal(new Uint8Array(32), "a").open(sealed), undefined);
    const middle = sealed.length - 8;
    const other = sealed.charAt(middle) === "A" ? "B" : "A";
    const changed = sealed.slice(0, middle) + other + sealed.slice(middle + 1);
    assert.equal(seal.open(changed), undefined);
    assert.equal(seal.open(sealed.slice(0, 20)), undefined);
    assert.equal(seal.open("gAAAAAB-of-another-vendor"), undefined);
  });
});
