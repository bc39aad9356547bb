import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  type Account,
  type ChildAccount,
  createAccount,
  type Hold,
} from "../../src/agent/account.ts";
import {
  eachKind,
  LIMIT_KINDS,
  type LimitKind,
  type Limits,
  NO_LIMITS,
} from "../../src/agent/limits.ts";

const tokens = (count: number | null): Limits => ({ ...NO_LIMITS, tokens: count });

describe("an account", () => {
  it("spends what was reserved, and returns the rest", () => {
    const account = createAccount(tokens(100));
    const hold = account.hold({ tokens: 60 });
    assert.equal(account.left.tokens, 40);
    hold.settle({ tokens: 25, turns: 1 });
    assert.deepEqual([account.left.tokens, account.spent.tokens, account.spent.turns], [75, 25, 1]);
  });

  it("refuses more than it has, and says what is left of the limit", () => {
    const account = createAccount(tokens(100));
    account.hold({ tokens: 60 });
    assert.throws(() => account.hold({ tokens: 41 }), {
      code: "budget_exceeded",
      message:
        "The budget of 100 tokens does not cover the next call (40 tokens left, about 41 tokens needed).",
    });
    assert.equal(account.left.tokens, 40);
    account.hold({ tokens: 40 });
    assert.throws(() => account.hold({ tokens: 41 }), {
      message: "The budget of 100 tokens is used up.",
    });
  });

  it("says that a first call is not covered, and how much it needs", () => {
    assert.throws(() => createAccount(tokens(3000)).hold({ tokens: 4650 }), {
      code: "budget_exceeded",
      message:
        "Not started: the budget of 3,000 tokens does not cover one model call (about 4,650 tokens).",
    });
  });

  it("limits nothing without a limit", () => {
    const account = createAccount(NO_LIMITS);
    account.hold({ tokens: 1e12, usd: 1e9 }).settle({ tokens: 1e12 });
    assert.equal(account.left.tokens, Number.POSITIVE_INFINITY);
  });

  it("settles a hold once", () => {
    const account = createAccount(tokens(100));
    const hold = account.hold({ tokens: 50 });
    hold.settle({ tokens: 10 });
    hold.settle({ tokens: 10 });
    hold.release();
    assert.equal(account.left.tokens, 90);
  });
});

/** One event for some account of a tree. */
interface Act {
  readonly what: "hold" | "settle" | "release" | "open" | "close";
  readonly pick: number;
  readonly share: number;
}

describe("a tree of accounts", () => {
  const act = fc.record<Act>({
    what: fc.constantFrom("hold", "settle", "release", "open", "close"),
    pick: fc.nat(1000),
    share: fc.double({ min: 0, max: 1.2, noNaN: true }),
  });

  it("is never above a limit at any moment, whatever happens in any order", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 200 }), (acts) => {
        const root = createAccount(eachKind((kind) => (kind === "usd" ? 5 : 1000)));
        const nodes: Node[] = [{ account: root, parent: undefined, holds: [] }];
        for (const one of acts) {
          perform(one, nodes);
          for (const { account, isClosed } of nodes) if (!isClosed) assertWithin(account);
        }
      }),
      { numRuns: 300 },
    );
  });

  interface Node {
    readonly account: Account | ChildAccount;
    readonly parent: Node | undefined;
    readonly holds: { hold: Hold; most: number }[];
    isClosed?: boolean;
  }

  /** An account that has no more is expected to refuse. */
  function perform({ what, pick, share }: Act, nodes: Node[]): void {
    const open = nodes.filter((node) => !node.isClosed);
    const node = open[pick % open.length];
    if (!node) return;
    // A child may ask for more than it has: its parent gives it what is available.
    const amount = Math.floor(Math.max(20, node.account.left.tokens) * share);
    try {
      if (what === "hold") {
        node.holds.push({ hold: node.account.hold({ tokens: amount }), most: amount });
      } else if (what === "settle") {
        const held = node.holds.pop();
        held?.hold.settle({ tokens: Math.min(held.most, Math.floor(held.most * share)) });
      } else if (what === "release") node.holds.pop()?.hold.release();
      else if (what === "open") {
        const enough = { tokens: amount };
        const newcomer = { callKey: String(nodes.length), ceiling: {}, enough, least: enough };
        const account = node.account.family.tryAdmit(newcomer);
        if (account) nodes.push({ account, parent: node, holds: [] });
      } else close(node, nodes);
    } catch (thrown) {
      assert.equal((thrown as { code?: string }).code, "budget_exceeded");
    }
  }

  /** A run ends after everything below it. */
  function close(node: Node, nodes: readonly Node[]): void {
    if (!node.parent || !("close" in node.account)) return;
    for (const below of nodes) if (below.parent === node && !below.isClosed) close(below, nodes);
    for (const { hold } of node.holds) hold.release();
    node.account.close();
    node.isClosed = true;
  }

  function assertWithin({ limits, spent, left }: Account): void {
    for (const kind of Object.keys(LIMIT_KINDS) as LimitKind[]) {
      assert.ok(left[kind] >= 0, `${kind}: ${left[kind]} left`);
      assert.ok(spent[kind] <= (limits[kind] ?? Number.POSITIVE_INFINITY));
    }
  }
});
