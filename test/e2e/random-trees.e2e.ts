/** What must hold in every tree, whatever happens in it: 1,000 of them, by chance. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Amount,
  LIMIT_KINDS,
  type LimitKind,
  type Limits,
  NO_LIMITS,
} from "../../src/agent/limits.ts";
import type { LoggedEvent } from "../../src/protocol/run-events.ts";
import type { RunRecord } from "../../src/protocol/run-record.ts";
import type { Store } from "../../src/store/store.ts";
import { createChance, type RandomTree, startRandomTree } from "../delegation/random-tree.ts";

const TREES = 1000;
const SIDE_BY_SIDE = 50;

interface Node {
  readonly run: RunRecord;
  readonly log: readonly LoggedEvent[];
}

describe("a thousand random trees", () => {
  it("keep their budgets, grants, endings and numbers", async () => {
    let runs = 0;
    let deepest = 0;
    let background = 0;
    const endings = new Set<string>();
    for (let first = 0; first < TREES; first += SIDE_BY_SIDE) {
      const seeds = Array.from({ length: SIDE_BY_SIDE }, (_, at) => first + at);
      await Promise.all(
        seeds.map(async (seed) => {
          const nodes = await growTree(seed);
          runs += nodes.length;
          for (const { run, log } of nodes) {
            background += log.filter(
              ({ event }) => event.type === "child_end" && event.background,
            ).length;
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
    assert.ok(background > TREES / 4, `only ${background} in the background`);
    assert.ok(runs > 2 * TREES, `only ${runs} runs`);
    assert.equal(deepest, 10, "how deep the deepest is");
    for (const ending of ["completed", "budget", "failed", "cancelled", "max_turns"]) {
      assert.ok(endings.has(ending), `none ended as ${ending}`);
    }
  });
});

/** Runs one tree to its end. Some are cancelled in the middle. */
async function growTree(seed: number): Promise<Node[]> {
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
  });
  if (!isDeep && chance() < 0.2) await killTwice(tree);
  if (!isDeep && chance() < 0.15) await cancelSoon(tree);
  await tree.engine.result(tree.id);
  assert.deepEqual(tree.overdrawn, [], `seed ${seed}`);
  const nodes = await readTree(tree.store);
  await tree.engine.stop();
  return nodes;
}

async function killTwice(tree: RandomTree): Promise<void> {
  for (let kill = 0; kill < 2; kill++) {
    for (let tick = 0; tick < 8; tick++) await new Promise((resolve) => setImmediate(resolve));
    await tree.killAndResume();
  }
}

async function cancelSoon({ engine, id }: RandomTree): Promise<void> {
  for (let tick = 0; tick < 5; tick++) await new Promise((resolve) => setImmediate(resolve));
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
  // A run that was cancelled before it began has an ending and nothing else.
  if (log.length === 1) return;
  const children = nodes.filter((node) => node.run.parent_id === run.id && node.log.length > 1);
  checkMoney({ run, log }, children, { where, most });
  checkGrant({ run, log }, children, where);
}

/**
 * What children have spent is a part of what their parent has, and so nobody has spent more than the
 * tree may. A run's own limits are those it began with: it may have got more.
 */
function checkMoney(
  { run, log }: Node,
  children: readonly Node[],
  { where, most }: { readonly where: string; readonly most: Limits },
): void {
  const spent = spentOf(log);
  for (const kind of Object.keys(LIMIT_KINDS) as LimitKind[]) {
    const limit = most[kind] ?? Number.POSITIVE_INFINITY;
    const own = limitsOf(log)[kind] ?? Number.POSITIVE_INFINITY;
    assert.ok(own <= limit, `${where}: has more ${kind} than its tree`);
    assert.ok(spent[kind] <= limit + 1e-9, `${where}: ${kind} ${spent[kind]} of ${limit}`);
    // A run that is cancelled while it is replayed has not come to what its children spent before.
    if (run.ending === "cancelled") continue;
    const below = children.reduce((sum, child) => sum + spentOf(child.log)[kind], 0);
    assert.ok(below <= spent[kind] + 1e-9, `${where}: ${kind} of its children is not counted`);
  }
  assert.ok(run.ending !== "completed" || spent.turns > 0, where);
  if (run.ending === "completed") checkTold(log, where);
}

/** Of a background child a run that completes was told, once. */
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
