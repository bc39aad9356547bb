/** A child that another process runs asks for more of the budget, and its parent gives it, by messages. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAccount } from "../../src/agent/account.ts";
import { type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import type { Json } from "../../src/base/json.ts";
import { openParentAccount } from "../../src/delegation/parent-account.ts";
import { openAskedBudget } from "../../src/delegation/placed/asked-budget.ts";
import { createGivenBudgets } from "../../src/delegation/placed/given-budgets.ts";
import type { Engine, QueuedPlace, RunContext, RunOutcome } from "../../src/engine/engine.ts";
import { readWholeLog } from "../../src/engine/read-log.ts";
import { completed, createGate, onBenches, until } from "../engine/engine-fixture.ts";
import { type LocalBench, openLocalBench, openMemoryRecord } from "../engine/local-fixture.ts";

const limits = (tokens: number): Limits => ({ ...NO_LIMITS, tokens });
const NEVER = new AbortController().signal;
const QUEUE: QueuedPlace = {
  name: "children",
  lane: "",
  maxWaiting: 10,
  placement: "queue",
  toFull: () => new Error("full"),
};
const PARENT = { id: "run_1", title: "a parent" };
const CHILD = "run_1/c";

/** The parent's whole budget is 1000; its only child begins with half of it. */
const FIRST = 500;

/** A parent whose children run in other processes. `hears` is awaited before it answers a child. */
function defineParent(engine: Engine, hears: Promise<void> = Promise.resolve()): void {
  engine.defineQueue(QUEUE.name, { atOnce: 10, here: 0 });
  engine.define("child", async () => completed(null));
  engine.define("parent", async (context) => {
    const left = await context.stage("call", async (stage) => {
      await hears;
      const { family } = createAccount(limits(1000));
      const newcomer = { callKey: "call", ceiling: {}, enough: {}, least: {}, isFixed: true };
      const account = await family.admit(newcomer, stage.signal);
      const given = createGivenBudgets(context, () => 0).open(CHILD, account, stage.signal);
      const child = await context.child("c", "child", null, { queue: QUEUE });
      try {
        return (await Promise.race([child.result(), given.failed])).result;
      } finally {
        given.stop();
        account.close();
      }
    });
    return completed(left);
  });
}

/** Asks for more inside a step, as a model call does. */
function defineChild(engine: Engine, wants: number): void {
  engine.defineQueue(QUEUE.name, { atOnce: 10 });
  engine.define("child", async (context: RunContext) => {
    const budget = openAskedBudget(context, PARENT.id, limits(FIRST));
    const account = openParentAccount(limits(1000), budget);
    const given = await context.step("model:1", async () => {
      account.charge({ tokens: 200 });
      await account.gather({ tokens: wants }, { tokens: wants }, NEVER);
      return account.limits.tokens;
    });
    return completed(given);
  });
}

/** Engines look from time to time at what others have written: time passes until the run has ended. */
async function resultOf({ clock }: LocalBench, engine: Engine): Promise<Json> {
  let ended: RunOutcome | undefined;
  const ending = engine.result(PARENT.id).then((outcome) => {
    ended = outcome;
  });
  await until(() => {
    clock.advance(500);
    return ended !== undefined;
  });
  await ending;
  return ended?.result ?? null;
}

describe("a child that another process runs", () => {
  const onBench = onBenches<LocalBench>(() => openLocalBench(openMemoryRecord));

  it(
    "is given more of the budget by its parent, whose log says so first",
    onBench(async (bench) => {
      const parent = bench.engine({ isAlive: () => true });
      const worker = bench.engine();
      defineParent(parent);
      defineChild(worker, 400);
      await parent.submit("parent", null, PARENT);
      await until(async () => (await parent.status(CHILD)) !== undefined);
      await worker.start();
      assert.equal(await resultOf(bench, parent), 600);
      const log = await readWholeLog(bench.record, PARENT.id);
      const told = log.flatMap(({ event }) => (event.type === "child_budget" ? [event] : []));
      assert.deepEqual(
        told.map(({ child_id, limits: { tokens } }) => [child_id, tokens]),
        [[CHILD, 600]],
      );
    }),
  );

  it(
    "is answered by the process that takes its parent over",
    onBench(async (bench) => {
      const silent = createGate();
      const isAlive = ({ id }: { readonly id: string }): boolean => id !== "first";
      const first = bench.engine({ workerId: "first", isAlive: () => true });
      const worker = bench.engine({ workerId: "worker", isAlive });
      defineParent(first, undefined);
      defineChild(worker, 700);
      await first.submit("parent", null, PARENT);
      await until(async () => (await first.status(CHILD)) !== undefined);
      first.crash();
      await worker.start(["none"]);
      await until(async () => (await worker.status(CHILD))?.owner === "worker");
      const second = bench.engine({ workerId: "second", isAlive });
      defineParent(second, silent.opened);
      await second.start();
      silent.open();
      assert.equal(await resultOf(bench, second), 900);
    }),
  );
});
