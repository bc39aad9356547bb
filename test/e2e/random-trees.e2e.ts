/** Invariants of every tree, tested with many random trees. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { steerRun } from "../../src/agent/inbox.ts";
import {
  type Amount,
  addAmounts,
  KINDS,
  type LimitKind,
  type Limits,
  NO_LIMITS,
  NOTHING,
} from "../../src/agent/limits.ts";
import { toLoggedSpending } from "../../src/agent/logged-spending.ts";
import type { ChildStart, LoggedEvent, ToolEnd } from "../../src/protocol/run-events.ts";
import type { RunRecord } from "../../src/protocol/run-record.ts";
import type { Store } from "../../src/store/store.ts";
import type { ChildrenPlace, GrownTree } from "../delegation/grown-tree.ts";
import {
  type Chance,
  createChance,
  passTicks,
  startRandomTree,
} from "../delegation/random-tree.ts";

/** `OFFSHOOT_TEST_TREES=1000` for a long test. A multiple of the number of parallel trees. */
const TREES = Number(process.env["OFFSHOOT_TEST_TREES"] ?? 1000);
/** `OFFSHOOT_TEST_SEED=217` for a tree that failed. */
const FIRST = Number(process.env["OFFSHOOT_TEST_SEED"] ?? 0);
const SIDE_BY_SIDE = 50;

interface Node {
  readonly run: RunRecord;
  readonly log: readonly LoggedEvent[];
}

describe("a thousand random trees", () => {
  it("keep their budgets, grants, endings and numbers", async () => {
    let runs = 0;
    let deepest = 0;
    const seen = createCounts();
    const endings = new Set<string>();
    for (let first = 0; first < TREES; first += SIDE_BY_SIDE) {
      const seeds = Array.from({ length: SIDE_BY_SIDE }, (_, at) => FIRST + first + at);
      await Promise.all(
        seeds.map(async (seed) => {
          const { nodes, topUps } = await growTree(seed);
          runs += nodes.length;
          seen.asked_for_more += topUps;
          for (const { run, log } of nodes) {
            countIn(seen, log, nodes);
            deepest = Math.max(deepest, run.path.split("/").length - 2);
            endings.add(String(run.ending));
          }
          const root = nodes.find(({ run }) => run.parent_id === null);
          assert.ok(root, `seed ${seed}`);
          const most = limitsOf(root.log);
          for (const node of nodes) checkNode(node, nodes, { seed, most });
        }),
      );
    }
    const few = Object.entries(seen).filter(([, count]) => count < TREES / 100);
    assert.deepEqual(few, [], JSON.stringify(seen));
    assert.ok(seen.background > TREES / 4, `only ${seen.background} in the background`);
    assert.ok(runs > 2 * TREES, `only ${runs} runs`);
    assert.equal(deepest, 10, "how deep the deepest is");
    for (const ending of ["completed", "budget", "failed", "cancelled", "max_turns"]) {
      assert.ok(endings.has(ending), `none ended as ${ending}`);
    }
  });
});

/** Events that must happen often enough over all trees for the test to mean anything. */
function createCounts() {
  return {
    background: 0,
    /** How often a run was taken over. */
    resumed: 0,
    /** Children that have spent more than they began with. */
    given_more: 0,
    /** The same, requested over a line or by messages, like from another process. */
    asked_for_more: 0,
    /** Messages of a user that runs have read. */
    steered: 0,
    asked_parent: 0,
    answered_by_parent: 0,
    subagent: 0,
    parallel_subagent: 0,
    call_subagent: 0,
  };
}

type Counts = ReturnType<typeof createCounts>;

function countIn(seen: Counts, log: readonly LoggedEvent[], nodes: readonly Node[]): void {
  for (const { event } of log) {
    if (event.type === "child_end" && event.background) seen.background++;
    if (event.type === "child_start" && hasMore(event, nodes)) seen.given_more++;
    if (event.type === "run_resume") seen.resumed++;
    if (event.type === "run_input") {
      seen.steered += JSON.stringify(event.items).split(STEERING).length - 1;
    }
    if (event.type === "tool_end") countCall(seen, event);
  }
}

function countCall(seen: Counts, { name, failed, item }: ToolEnd): void {
  if (name === "ask_parent") seen.asked_parent++;
  if (name === "ask_parent" && JSON.stringify(item).includes("Like this.")) {
    seen.answered_by_parent++;
  }
  const isDelegating =
    name === "subagent" || name === "parallel_subagent" || name === "call_subagent";
  if (isDelegating && !failed) seen[name]++;
}

function hasMore({ child_id, effective }: ChildStart, nodes: readonly Node[]): boolean {
  const child = nodes.find(({ run }) => run.id === child_id);
  if (!child || child.log.length < 2) return false;
  const given = effective["limits"] as unknown as Limits;
  const spent = spentOf(child.log);
  return KINDS.some((kind) => spent[kind] > (given[kind] ?? Number.POSITIVE_INFINITY) + 1e-9);
}

/** Runs one tree to its end. Some are cancelled in the middle, and some get messages. */
async function growTree(seed: number): Promise<{ nodes: Node[]; topUps: number }> {
  const chance = createChance(seed);
  const limits: Limits = {
    turns: 3 + Math.floor(chance() * 40),
    tokens: 3000 + Math.floor(chance() * 200_000),
    usd: chance() < 0.3 ? null : 0.01 + chance(),
    tool_calls: chance() < 0.5 ? null : Math.floor(chance() * 30),
    children: Math.floor(chance() * 25),
  };
  const isDeep = seed % 50 === 0;
  const tree = await startRandomTree({
    chance,
    maxDepth: 10,
    limits: isDeep ? NO_LIMITS : limits,
    isDeep,
    executor: isDeep ? "in_process" : toExecutor(chance),
  });
  if (!isDeep && chance() < 0.3) await steerSome(tree, chance);
  if (!isDeep && chance() < 0.3) await killTwice(tree, chance);
  if (!isDeep && chance() < 0.15) await cancelSoon(tree);
  await tree.engine.result(tree.id);
  assert.deepEqual(tree.overdrawn, [], `seed ${seed}`);
  const nodes = await readTree(tree.store);
  await tree.engine.stop();
  return { nodes, topUps: tree.topUps };
}

/** Most children spend from the account above; some ask over a line, and some by messages. */
function toExecutor(chance: Chance): ChildrenPlace {
  const roll = chance();
  if (roll < 0.25) return "child_process";
  return roll < 0.5 ? "anywhere" : "in_process";
}

const STEERING = "A word from outside.";

/** A user sends messages to running nodes of the tree. */
async function steerSome(tree: GrownTree, chance: Chance): Promise<void> {
  for (let word = 0; word < 3; word++) {
    await passTicks(4);
    const open = (await tree.store.listRuns({ limit: 100 })).filter(
      ({ status }) => status !== "ended",
    );
    const run = open[Math.floor(chance() * open.length)];
    // It may have ended meanwhile.
    if (run) await steerRun(tree.engine, run.id, STEERING).catch(() => {});
  }
}

async function killTwice(tree: GrownTree, chance: Chance): Promise<void> {
  for (let kill = 0; kill < 2; kill++) {
    await passTicks(chance() * 100);
    await tree.killAndResume();
  }
}

async function cancelSoon({ engine, id }: GrownTree): Promise<void> {
  await passTicks(5);
  // It may have ended by itself.
  await engine.cancel(id, { tree: true }).catch(() => {});
}

async function readTree(store: Store): Promise<Node[]> {
  const runs = await store.listRuns({ limit: 10_000 });
  return await Promise.all(
    runs.map(async (run) => ({ run, log: await store.readEvents(run.id, -1, 1_000_000) })),
  );
}

interface Whole {
  readonly seed: number;
  /** What the tree may spend in all. */
  readonly most: Limits;
}

function checkNode({ run, log }: Node, nodes: readonly Node[], { seed, most }: Whole): void {
  const where = `seed ${seed}, ${run.id}`;
  assert.equal(run.status, "ended", where);
  assert.deepEqual(
    log.map(({ seq }) => seq),
    log.map((_, index) => index),
    where,
  );
  const ends = log.filter(({ event }) => event.type === "run_end");
  assert.equal(ends.length, 1, where);
  assert.equal(log.at(-1)?.event.type, "run_end", where);
  // A run that was cancelled before it began has only an ending.
  if (log.length === 1) return;
  const below = nodes.filter((node) => node.run.parent_id === run.id);
  const children = below.filter((node) => node.log.length > 1);
  checkMoney({ run, log }, children, { where, most });
  checkOnce({ run, log }, below, where);
  checkGrant({ run, log }, children, where);
}

/**
 * A child's spending is part of its parent's, so no run has spent more than the tree may. A run's own
 * limits are those that it began with: it may have got more.
 */
function checkMoney(
  { run, log }: Node,
  children: readonly Node[],
  { where, most }: { readonly where: string; readonly most: Limits },
): void {
  const spent = spentOf(log);
  for (const kind of KINDS) {
    const limit = most[kind] ?? Number.POSITIVE_INFINITY;
    const own = limitsOf(log)[kind] ?? Number.POSITIVE_INFINITY;
    assert.ok(own <= limit, `${where}: has more ${kind} than its tree`);
    assert.ok(spent[kind] <= limit + 1e-9, `${where}: ${kind} ${spent[kind]} of ${limit}`);
    // A run that is cancelled while it is replayed has not reached its children's earlier spending.
    if (run.ending === "cancelled") continue;
    const below = children.reduce((sum, child) => sum + spentOf(child.log)[kind], 0);
    assert.ok(below <= spent[kind] + 1e-9, `${where}: ${kind} of its children is not counted`);
  }
  assert.ok(run.ending !== "completed" || spent.turns > 0, where);
  if (run.ending === "completed") checkTold(log, where);
}

/** The spending of a run is that of its log and of its children, no more and no less. */
function checkOnce({ run, log }: Node, below: readonly Node[], where: string): void {
  // The usage of an answer that broke is in no log, and a run that was cut in its replay had not reached
  // all of it.
  if (run.ending !== "completed" || below.some(({ run: { ending } }) => ending === "cancelled"))
    return;
  const own = toLoggedSpending(log, { costOf: () => 0, specs: [] });
  const spent = spentOf(log);
  const sum = below.map((child) => spentOf(child.log)).reduce(addAmounts, NOTHING);
  const told = (kind: LimitKind): string => `${where}: ${kind} ${spent[kind]}, by the logs`;
  assert.equal(spent.turns, own.turns + sum.turns, told("turns"));
  assert.equal(spent.children, below.length + sum.children, told("children"));
  assert.equal(spent.tool_calls, own.tool_calls + sum.tool_calls, told("tool_calls"));
  // The usage of an attempt that another process left is an estimate.
  if (log.some(({ event }) => event.type === "run_resume")) return;
  assert.equal(spent.tokens, own.tokens + sum.tokens, told("tokens"));
}

/** A completed run was told about each background child once. */
function checkTold(log: readonly LoggedEvent[], where: string): void {
  const ended = log.flatMap(({ event }) =>
    event.type === "child_end" && event.background ? [event.child_id] : [],
  );
  const news = log.flatMap(({ event }) => (event.type === "child_news" ? event.news : []));
  const answers = log.flatMap(({ event }) =>
    event.type === "tool_end" && event.name === "subagents" ? [JSON.stringify(event.item)] : [],
  );
  for (const id of ended) {
    const told = news.filter((word) => word.kind === "report" && word.child_id === id).length;
    const isCollected = answers.some((answer) =>
      answer.includes(`\\"id\\":\\"${id}\\",\\"success`),
    );
    assert.ok(told === 1 || (told === 0 && isCollected), `${where}: ${id} was told ${told} times`);
  }
}

function checkGrant({ log }: Node, children: readonly Node[], where: string): void {
  const { grant, tools } = settingsOf(log);
  for (const child of children) {
    const own = settingsOf(child.log);
    assert.deepEqual(own.grant.slice(0, grant.length), grant, where);
    assert.ok(own.grant.length > grant.length, where);
    assert.ok(
      own.tools.every((name) => tools.includes(name)),
      where,
    );
    assert.equal(own.depth, settingsOf(log).depth + 1, where);
  }
}

function settingsOf(log: readonly LoggedEvent[]) {
  const start = log[0]?.event;
  assert.ok(start?.type === "run_start");
  return start.settings;
}

function limitsOf(log: readonly LoggedEvent[]): Limits {
  return settingsOf(log).limits as unknown as Limits;
}

function spentOf(log: readonly LoggedEvent[]): Amount {
  const end = log.at(-1)?.event;
  assert.ok(end?.type === "run_end");
  return { turns: 0, tokens: 0, usd: 0, tool_calls: 0, children: 0, ...end.spent } as Amount;
}
