import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Account, createAccount } from "../../src/agent/account.ts";
import { type Amount, type Limits, NO_LIMITS, NOTHING } from "../../src/agent/limits.ts";

const limits = (some: Partial<Limits>): Limits => ({ ...NO_LIMITS, ...some });
const { signal: NEVER } = new AbortController();

/** A child that an earlier owner of its parent has begun. */
const found = (id: string, spent: Partial<Amount>) => ({
  id,
  callKey: `call of ${id}`,
  spent: { ...NOTHING, ...spent },
});
const adopted = (id: string) => ({ callKey: `call of ${id}`, ceiling: {} });

function spend(account: Account, tokens: number): void {
  account.hold({ tokens }).settle({ tokens });
}

describe("children that an earlier owner of the run has begun", () => {
  it("have spent what the record says before any budget is given out", () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    parent.family.found.add([found("a", { tokens: 100 }), found("b", { tokens: 700 })]);
    assert.equal(parent.left.tokens, 200);
    const a = parent.family.adopt("a", adopted("a"));
    a.charge({ tokens: 100 });
    assert.throws(() => spend(a, 300), { code: "budget_exceeded" });
    const b = parent.family.adopt("b", adopted("b"));
    b.charge({ tokens: 700 });
    assert.ok(parent.left.tokens >= 0, String(parent.left.tokens));
  });

  it("keep what they were told that they may spend, if they continue to spend by themselves", () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    const given = { ...NOTHING, tokens: 600 };
    parent.family.found.add([
      { ...found("a", { tokens: 100 }), given },
      found("b", { tokens: 50 }),
    ]);
    assert.equal(parent.left.tokens, 350);
    const a = parent.family.adopt("a", { ...adopted("a"), isFixed: true });
    assert.equal(a.limits.tokens, 600);
    a.charge({ tokens: 100 });
    assert.throws(() => spend(parent, 400), { code: "budget_exceeded" });
    a.close();
    assert.equal(parent.left.tokens, 850);
  });

  it("keep what they have spent while they are replayed, whatever others need", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    parent.family.found.add([found("a", { tokens: 100 }), found("b", { tokens: 600 })]);
    const a = parent.family.adopt("a", adopted("a"));
    const b = parent.family.adopt("b", adopted("b"));
    a.charge({ tokens: 100 });
    b.charge({ tokens: 50 });
    await a.gather({ tokens: 290 }, { tokens: 290 }, AbortSignal.abort()).catch(() => {});
    b.charge({ tokens: 550 });
    assert.ok(parent.left.tokens >= 0, String(parent.left.tokens));
  });

  it("cost what they say at their end, and not the estimate for a call that was in progress", () => {
    for (const hasTold of [true, false]) {
      const parent = createAccount(limits({ tokens: 1000 }));
      parent.family.found.add([found("a", { tokens: 514 })]);
      const a = parent.family.adopt("a", adopted("a"));
      a.charge({ tokens: 110 });
      if (hasTold) a.counted();
      a.close();
      assert.equal(parent.spent.tokens, hasTold ? 110 : 514);
      assert.equal(a.spent.tokens, parent.spent.tokens);
    }
  });

  it("count once, with what they spend from then on", () => {
    const parent = createAccount(limits({ tokens: 1000, children: 5 }));
    parent.family.found.add([found("a", { tokens: 300, children: 1 })]);
    const a = parent.family.adopt("a", adopted("a"));
    a.charge({ tokens: 300, children: 1 });
    spend(a, 50);
    a.close();
    assert.deepEqual([parent.spent.tokens, parent.spent.children], [350, 2]);
    assert.deepEqual([parent.left.tokens, parent.left.children], [650, 3]);
  });

  it("count what they spent, not the record's estimate, once they continue", () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    parent.family.found.add([found("a", { tokens: 300 })]);
    const a = parent.family.adopt("a", adopted("a"));
    a.charge({ tokens: 280 });
    spend(a, 10);
    a.close();
    assert.equal(parent.spent.tokens, 290);
  });

  it("have spent what the record says if they end before they have counted it", () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    parent.family.found.add([found("a", { tokens: 300 })]);
    const a = parent.family.adopt("a", adopted("a"));
    a.charge({ tokens: 100 });
    a.close();
    assert.deepEqual([parent.spent.tokens, a.spent.tokens], [300, 300]);
  });

  it("have spent it even if their call does not ask for them again", () => {
    const parent = createAccount(limits({ tokens: 1000, children: 5 }));
    parent.family.found.add([found("a", { tokens: 300, children: 1 })]);
    const lost = parent.family.found.giveUp("call of a");
    assert.deepEqual(lost, { ...NOTHING, tokens: 300, children: 2 });
    assert.deepEqual([parent.spent.tokens, parent.left.children], [300, 3]);
    assert.deepEqual(parent.family.found.giveUp("call of a"), NOTHING);
  });

  it("are never refused, and count as runs, even if more was spent than there was", async () => {
    const parent = createAccount(limits({ tokens: 1000, tool_calls: 1, children: 1 }));
    parent.charge({ tool_calls: 2 });
    parent.family.found.add([found("a", { tokens: 1100 }), found("b", {})]);
    const a = parent.family.adopt("a", adopted("a"));
    const b = parent.family.adopt("b", adopted("b"));
    a.charge({ tokens: 1100 });
    const third = { callKey: "c", ceiling: {}, enough: {}, least: {} };
    const refused = assert.rejects(parent.family.admit(third, NEVER), { code: "budget_exceeded" });
    a.close();
    b.close();
    await refused;
    assert.deepEqual([parent.spent.tokens, parent.spent.children], [1100, 2]);
  });

  it("are not found again once they were started", () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    parent.family.found.add([found("a", { tokens: 300 })]);
    const a = parent.family.adopt("a", adopted("a"));
    parent.family.found.add([found("a", { tokens: 300 })]);
    a.charge({ tokens: 300 });
    a.close();
    assert.deepEqual([parent.spent.tokens, parent.left.tokens], [300, 700]);
  });
});
