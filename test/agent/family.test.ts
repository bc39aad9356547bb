import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type Account, type ChildAccount, createAccount } from "../../src/agent/account.ts";
import { type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import type { Newcomer } from "../../src/agent/newcomer.ts";

const limits = (some: Partial<Limits>): Limits => ({ ...NO_LIMITS, ...some });
const { signal: NEVER } = new AbortController();

/** A child whose first call needs this many tokens. */
const child = (callKey: string, tokens = 0): Newcomer => ({
  callKey,
  ceiling: {},
  enough: { tokens },
  least: { tokens },
});

function spend(account: Account, tokens: number): void {
  account.hold({ tokens }).settle({ tokens });
}

/** Lets everything happen that can happen now. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

describe("children of one turn", () => {
  it("have equal shares, and leave an equal share to their parent", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    for (const key of ["a", "b", "c"]) parent.family.announce(key, 1);
    const children = [];
    for (const key of ["a", "b", "c"]) children.push(await parent.family.admit(child(key), NEVER));
    assert.deepEqual(
      children.map(({ left }) => left.tokens),
      [250, 250, 250],
    );
    assert.equal(parent.left.tokens, 250);
  });

  it("have equal shares with the tasks of one call", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    parent.family.announce("one", 1);
    parent.family.announce("three", 3);
    const one = await parent.family.admit(child("one"), NEVER);
    const three = await parent.family.admit(child("three"), NEVER);
    assert.deepEqual([one.left.tokens, three.left.tokens], [200, 200]);
  });

  it("get what an ended child did not use, while others still run", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    parent.family.announce("a", 1);
    parent.family.announce("b", 1);
    const a = await parent.family.admit(child("a"), NEVER);
    const b = await parent.family.admit(child("b"), NEVER);
    spend(a, 10);
    a.close();
    spend(b, 600);
    assert.equal(parent.left.tokens + b.left.tokens + 610, 1000);
  });

  it("get what others hold above their share and do not use", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    const early = await parent.family.admit(child("early"), NEVER);
    assert.equal(early.left.tokens, 500);
    for (const key of ["a", "b", "c"]) parent.family.announce(key, 1);
    const late = [];
    for (const key of ["a", "b", "c"]) late.push(await parent.family.admit(child(key, 200), NEVER));
    assert.deepEqual(
      late.map(({ left }) => left.tokens),
      [200, 200, 200],
    );
    assert.ok(early.left.tokens >= 200, String(early.left.tokens));
  });

  it("start at most as many runs as the limit says", async () => {
    const parent = createAccount(limits({ children: 4 }));
    for (const key of ["a", "b", "c", "d", "e"]) parent.family.announce(key, 1);
    const accounts: ChildAccount[] = [];
    for (const key of ["a", "b", "c", "d"]) {
      accounts.push(await parent.family.admit(child(key), NEVER));
    }
    for (const account of accounts) account.close();
    await assert.rejects(parent.family.admit(child("e"), NEVER), {
      code: "budget_exceeded",
      message: "The budget of 4 subagents is used up.",
    });
    assert.equal(parent.spent.children, 4);
  });

  it("nest as deep as the limit on runs allows", async () => {
    const root = createAccount(limits({ children: 3 }));
    const one = await root.family.admit(child("one"), NEVER);
    const two = await one.family.admit(child("two"), NEVER);
    const three = await two.family.admit(child("three"), NEVER);
    await assert.rejects(three.family.admit(child("four"), NEVER), { code: "budget_exceeded" });
    for (const account of [three, two, one]) account.close();
    assert.equal(root.spent.children, 3);
  });

  it("run in waves if there is not enough for all at once", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    const keys = Array.from({ length: 6 }, (_, at) => String(at));
    for (const key of keys) parent.family.announce(key, 1);
    let open = 0;
    let peak = 0;
    const runs = keys.map(async (key) => {
      const account = await parent.family.admit(child(key, 300), NEVER);
      peak = Math.max(peak, ++open);
      await settle();
      spend(account, 100);
      open--;
      account.close();
    });
    await Promise.all(runs);
    assert.equal(parent.spent.tokens, 600);
    assert.ok(peak >= 2 && peak <= 3, String(peak));
  });

  it("wait for what a sibling returns, and continue with it", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    parent.family.announce("a", 1);
    parent.family.announce("b", 1);
    const a = await parent.family.admit(child("a", 400), NEVER);
    const b = await parent.family.admit(child("b", 400), NEVER);
    spend(a, 400);
    const hold = b.hold({ tokens: 400 });
    let isThere = false;
    const gathered = a.gather({ tokens: 300 }, { tokens: 300 }, NEVER).then(() => {
      isThere = true;
    });
    await settle();
    assert.equal(isThere, false);
    hold.settle({ tokens: 50 });
    b.close();
    await gathered;
    spend(a, 300);
    a.close();
    assert.equal(parent.spent.tokens, 750);
  });

  it("do not wait for each other for ever", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    parent.family.announce("a", 1);
    parent.family.announce("b", 1);
    const a = await parent.family.admit(child("a", 400), NEVER);
    const b = await parent.family.admit(child("b", 400), NEVER);
    spend(a, 400);
    spend(b, 400);
    const goOn = async (one: ChildAccount): Promise<boolean> => {
      await one.gather({ tokens: 500 }, { tokens: 500 }, NEVER);
      const isRich = one.left.tokens >= 500;
      one.close();
      return isRich;
    };
    assert.deepEqual(await Promise.all([goOn(a), goOn(b)]), [false, false]);
  });

  it("leave the queue when they are cancelled, and let the next one in", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    for (const key of ["a", "b", "c"]) parent.family.announce(key, 1);
    const a = await parent.family.admit(child("a", 800), NEVER);
    const hold = a.hold({ tokens: 800 });
    const stop = new AbortController();
    const b = parent.family.admit(child("b", 800), stop.signal);
    const c = parent.family.admit(child("c", 50), NEVER);
    stop.abort();
    await assert.rejects(b, { code: "cancelled" });
    (await c).close();
    hold.release();
    a.close();
    assert.equal(parent.left.tokens, 1000);
  });

  it("that could not make one call are not started, and say why in round figures", async () => {
    const parent = createAccount(limits({ usd: 0.01234567 }));
    const poor = { ...child("a"), enough: { usd: 0.5 }, least: { usd: 0.041234 } };
    await assert.rejects(parent.family.admit(poor, NEVER), {
      code: "budget_exceeded",
      message: "Not started: its first call may take $0.04, and the budget has $0.01 left for it.",
    });
    assert.deepEqual([parent.left.usd, parent.spent.children], [0.01234567, 0]);
  });

  it("of a child get budget from the run above when the child has none left", async () => {
    const root = createAccount(limits({ tokens: 1000 }));
    root.family.announce("a", 1);
    root.family.announce("b", 1);
    const a = await root.family.admit(child("a"), NEVER);
    const b = await root.family.admit(child("b"), NEVER);
    const holdOfB = b.hold({ tokens: 300 });
    const below = await a.family.admit(child("below", 100), NEVER);
    const waits = below.gather({ tokens: 500 }, { tokens: 500 }, NEVER);
    await settle();
    holdOfB.settle({ tokens: 20 });
    b.close();
    await waits;
    spend(below, 500);
    below.close();
    a.close();
    assert.equal(root.spent.tokens, 520);
  });

  it("use a limited number of processes, and do not block children that need none", async () => {
    const parent = createAccount(NO_LIMITS);
    parent.family.maxFixed = 1;
    const inProcess = (key: string): Newcomer => ({ ...child(key), isFixed: true });
    const first = await parent.family.admit(inProcess("first"), NEVER);
    let isIn = false;
    const second = parent.family.admit(inProcess("second"), NEVER).then((account) => {
      isIn = true;
      return account;
    });
    await parent.family.admit(child("third"), NEVER);
    assert.equal(isIn, false);
    first.close();
    (await second).close();
  });

  it("that are urgent are started at once or not at all", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    const first = await parent.family.admit(child("first", 800), NEVER);
    const urgent: Newcomer = { ...child("urgent", 500), isUrgent: true };
    await assert.rejects(parent.family.admit(urgent, NEVER), { code: "budget_exceeded" });
    first.close();
    await parent.family.admit(urgent, NEVER);
    parent.family.maxOpen = 1;
    await assert.rejects(parent.family.admit({ ...urgent, callKey: "more" }, NEVER), {
      message: "Not started: 1 subagent at work is the most there may be.",
    });
  });

  it("work at once only up to the allowed number", async () => {
    const parent = createAccount(NO_LIMITS);
    parent.family.maxOpen = 2;
    const a = await parent.family.admit(child("a"), NEVER);
    await parent.family.admit(child("b"), NEVER);
    let isIn = false;
    const c = parent.family.admit(child("c"), NEVER).then(() => {
      isIn = true;
    });
    await settle();
    assert.equal(isIn, false);
    a.close();
    await c;
  });

  for (const most of ["maxOpen", "maxFixed"] as const) {
    it(`let another child work in their place while they wait for their parent: ${most}`, async () => {
      const parent = createAccount(NO_LIMITS);
      parent.family[most] = 1;
      const newcomer = (key: string): Newcomer => ({ ...child(key), isFixed: true });
      const a = await parent.family.admit(newcomer("a"), NEVER);
      const b = parent.family.admit(newcomer("b"), NEVER);
      const goOn = a.pause();
      const second = await b;
      goOn();
      let isIn = false;
      const c = parent.family.admit(newcomer("c"), NEVER).then(() => {
        isIn = true;
      });
      second.close();
      await settle();
      assert.equal(isIn, false, "the one that was answered works again");
      a.close();
      await c;
    });
  }
});

describe("a child that waits for a message of its parent", () => {
  it("leaves what it does not use to the others", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    for (const key of ["a", "b"]) parent.family.announce(key, 1);
    const asks = await parent.family.admit(child("a"), NEVER);
    const works = await parent.family.admit(child("b"), NEVER);
    spend(asks, 100);
    const goOn = asks.pause();
    await works.gather({ tokens: 750 }, { tokens: 750 }, NEVER);
    spend(works, 750);
    assert.ok(parent.left.tokens >= 0, String(parent.left.tokens));
    goOn();
    works.close();
    asks.close();
    assert.equal(parent.spent.tokens, 850);
  });

  it("makes no sibling wait for what cannot be taken back from it", async () => {
    const parent = createAccount(limits({ tokens: 1000 }));
    for (const key of ["a", "b"]) parent.family.announce(key, 1);
    const asks = await parent.family.admit({ ...child("a"), isFixed: true }, NEVER);
    const works = await parent.family.admit(child("b"), NEVER);
    const told = works.gather({ tokens: 800 }, { tokens: 800 }, NEVER);
    asks.pause();
    await told;
    assert.ok(works.left.tokens < 800, String(works.left.tokens));
  });
});

describe("a family", () => {
  const need = fc.record({
    first: fc.integer({ min: 1, max: 40 }),
    later: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 4 }),
  });

  it("runs every child whose needs fit the budget, at no moment above it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(need, { minLength: 1, maxLength: 30 }), async (needs) => {
        const all = needs
          .flatMap(({ first, later }) => [first, ...later])
          .reduce((a, b) => a + b, 0);
        // A tenth is the parent's own, and the most expensive call must fit beside it.
        const tokens = Math.ceil((all + 60) / 0.9) + 1;
        const parent = createAccount(limits({ tokens }));
        needs.forEach((_, at) => void parent.family.announce(String(at), 1));
        const ends = await Promise.all(
          needs.map(async ({ first, later }, at) => {
            const account = await parent.family.admit(child(String(at), first), NEVER);
            for (const call of [first, ...later]) {
              await account.gather({ tokens: call }, { tokens: call }, NEVER);
              const hold = account.hold({ tokens: call });
              assert.ok(parent.left.tokens >= 0, String(parent.left.tokens));
              await settle();
              hold.settle({ tokens: call });
            }
            account.close();
            return "done";
          }),
        );
        assert.ok(ends.every((end) => end === "done"));
        assert.equal(parent.spent.tokens, all);
      }),
      { numRuns: 100 },
    );
  });
});
