import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { respond } from "../../src/testing/index.ts";
import { reply } from "../../src/testing/reply.ts";
import { calling, envelopesIn, eventsOfType, playing, spawning } from "./family.ts";
import { startTree, type Tree } from "./tree-fixture.ts";

/** Expensive enough that one child costs about a cent. */
const PRICED = [
  { vendor: "custom", name: "test", price: { input: 3, cached: undefined, output: 15 } },
];
const TOOLS = ["read", "subagent", "parallel_subagent"];
const limits = (some: Partial<Limits>): Limits => ({ ...NO_LIMITS, ...some });
const LABELS = (count: number) => Array.from({ length: count }, (_, at) => `child ${at}`);
const WORDS = "word ".repeat(400);

type Call = readonly [name: string, input: object];

const SAID = { usage: { input: 1000, output: 400 }, pieceLength: 4000 };

/**
 * The root makes these calls; each child gives a long answer, and is cut if the budget does not
 * allow it.
 */
function start(t: TestContext, ...calls: readonly Call[]): Promise<Tree> {
  const root = playing({ go: calling(...calls) });
  const engine = respond((request) => {
    const [first] = request.items;
    const isRoot = first?.type === "message" && first.content === "go";
    if (isRoot) return root.next(request) ?? reply.text("done");
    const isCut = (request.max_output_tokens ?? 1e6) < 400;
    return isCut ? reply.length("cut") : reply.text(WORDS, SAID);
  });
  return startTree(t, engine, { overrides: PRICED });
}

/** How many children had each ending. */
function endingsIn(events: readonly RunEvent[]): Record<string, number> {
  const endings: Record<string, number> = {};
  for (const { ending } of eventsOfType(events, "child_end")) {
    endings[ending] = (endings[ending] ?? 0) + 1;
  }
  return endings;
}

const parallel = (labels: readonly string[], more: object = {}) =>
  [
    "parallel_subagent",
    { tasks: labels.map((label) => ({ label, task_prompt: label })), ...more },
  ] as const;

const TOGETHER: readonly (readonly [string, number, readonly Call[]])[] = [
  ["24 calls of `subagent`", 24, LABELS(24).map((label) => spawning(label))],
  ["100 calls of `subagent`", 100, LABELS(100).map((label) => spawning(label))],
  ["24 tasks of one call", 24, [parallel(LABELS(24), { max_concurrent: 24 })]],
  [
    "12 calls beside 12 tasks",
    24,
    [...LABELS(12).map((label) => spawning(label)), parallel(LABELS(24).slice(12))],
  ],
];

describe("children of one turn whose needs fit the budget", () => {
  for (const [name, count, calls] of TOGETHER) {
    it(`all run: ${name}`, async (t) => {
      const tree = await start(t, ...calls);
      // About $0.009 for each child, and the parent's two calls.
      const usd = 0.009 * count * 2 + 0.1;
      const { end, events } = await tree.run({ tools: TOOLS, limits: limits({ usd }) });
      assert.equal(end.ending, "completed");
      assert.deepEqual(endingsIn(events), { completed: count });
      assert.ok(Number(end.spent["usd"]) <= usd);
    });
  }

  it("run in waves if their shares would be too small", async (t) => {
    const tree = await start(t, parallel(LABELS(8), { max_concurrent: 8 }));
    const { events } = await tree.run({ tools: TOOLS, limits: limits({ tokens: 19_000 }) });
    assert.deepEqual(endingsIn(events), { completed: 8 });
  });

  it("have equal shares, and so has their parent", async (t) => {
    const tree = await start(t, ...LABELS(4).map((label) => spawning(label)));
    const { events } = await tree.run({ tools: TOOLS, limits: limits({ usd: 10 }) });
    const shares = eventsOfType(events, "child_start").map(
      ({ effective }) => (effective["limits"] as Partial<Limits> | undefined)?.usd ?? 0,
    );
    const least = Math.min(...shares);
    assert.equal(shares.length, 4);
    assert.ok(least > 1.9, String(shares));
    assert.ok(Math.max(...shares) - least < 1e-9, String(shares));
  });
});

describe("a limit on runs", () => {
  for (const most of [1, 2, 3, 4, 8]) {
    it(`of ${most} lets as many of four calls run`, async (t) => {
      const tree = await start(t, ...LABELS(4).map((label) => spawning(label)));
      const { events } = await tree.run({ tools: TOOLS, limits: limits({ children: most }) });
      assert.deepEqual(endingsIn(events), { completed: Math.min(most, 4) });
      const refused = Object.values(envelopesIn(events)).filter(({ success }) => !success);
      for (const { error } of refused) {
        assert.equal(error, `The budget of ${most} subagent${most === 1 ? "" : "s"} is used up.`);
      }
    });
  }
});

describe("children whose needs do not fit the budget", () => {
  it("stay within it, and those that were not run say why in round figures", async (t) => {
    const tree = await start(t, ...LABELS(24).map((label) => spawning(label)));
    const usd = 0.1;
    const { end, events } = await tree.run({ tools: TOOLS, limits: limits({ usd }) });
    assert.ok(Number(end.spent["usd"]) <= usd, String(end.spent["usd"]));
    const envelopes = Object.values(envelopesIn(events));
    const ran = envelopes.filter(({ success }) => success);
    assert.ok(ran.length >= 4, String(ran.length));
    for (const { error, output } of envelopes.filter(({ success }) => !success)) {
      assert.match(
        error ?? "",
        /^Not started: its first call may take \$0\.\d+, and the budget has \$0\.\d+ left for it\.$|^Subagent execution failed: /,
      );
      assert.equal(output.length < 4096, true);
    }
  });
});
