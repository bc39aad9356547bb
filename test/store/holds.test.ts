import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type KeyHold, toHeld } from "../../src/store/holds.ts";

const both = (tokens: number): { tokens: number; usd: number } => ({ tokens, usd: tokens / 100 });
const UNKNOWN = { tokens: Number.POSITIVE_INFINITY, usd: Number.POSITIVE_INFINITY };

describe("the share of a response that does not say what it needs", () => {
  it("is half for the first, and still something for those that come later", () => {
    const all: KeyHold[] = [];
    for (let n = 0; n < 5; n++) {
      const wish = { id: `run_${n}`, least: both(0), most: UNKNOWN };
      all.push({ id: wish.id, ...toHeld(wish, all, both(6000)) });
    }
    assert.deepEqual(
      all.map(({ tokens }) => tokens),
      [3000, 1000, 500, 300, 200],
    );
  });

  it("grows when it has used what it had, and not by asking again", () => {
    const ask = (used: number, held: number): number =>
      toHeld(
        { id: "a", least: both(used), most: UNKNOWN },
        [{ id: "a", ...both(held) }],
        both(1000),
      ).tokens;
    assert.equal(ask(0, 500), 500);
    assert.equal(ask(500, 500), 750);
    assert.equal(ask(999, 750), 1000);
  });

  it("is never less than the least, while that is there", () => {
    const wish = { id: "b", least: both(390), most: UNKNOWN };
    assert.equal(toHeld(wish, [{ id: "a", ...both(600) }], both(1000)).usd, 3.9 + 0.1 / 3);
    assert.equal(
      toHeld({ ...wish, least: both(401) }, [{ id: "a", ...both(600) }], both(1000)).tokens,
      0,
    );
  });

  it("is all of a remainder of tokens that is too small for two", () => {
    const wish = { id: "b", least: both(10), most: UNKNOWN };
    assert.equal(toHeld(wish, [{ id: "a", ...both(900) }], both(1000)).tokens, 100);
    assert.equal(toHeld(wish, [{ id: "a", ...both(600) }], both(1000)).tokens, 140);
  });
});

describe("the share of a response that says what it needs", () => {
  it("is exactly what it asks for", () => {
    const wish = { id: "a", least: both(20), most: both(120) };
    assert.deepEqual(toHeld(wish, [], both(1000)), both(120));
  });

  it("is nothing of a unit without a limit", () => {
    const wish = { id: "a", least: both(0), most: both(120) };
    const available = { tokens: Number.POSITIVE_INFINITY, usd: 1 };
    assert.deepEqual(toHeld(wish, [], available), { tokens: 0, usd: 0.5 });
  });
});
