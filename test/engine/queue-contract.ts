/** Queues over several engines of one store: turns, limits, and their state after a crash or a cancel. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Bench,
  completed,
  createGate,
  type Gate,
  type OpenBench,
  onBenches,
  until,
} from "./engine-fixture.ts";

type Engine = ReturnType<Bench["engine"]>;

interface Queued {
  /** Ids in the order in which their turns began. */
  readonly begun: string[];
  /** The most that ran at the same time. */
  readonly most: () => number;
  /** How many times each body was called. */
  readonly calls: Map<string, number>;
  readonly takeovers: string[];
  define(engine: Engine, limits?: { atOnce: number; here?: number }): void;
  end(id: string): void;
}

export function describeQueues(name: string, openBench: OpenBench): void {
  const onBench = (test: (bench: Bench, queued: Queued) => Promise<void>): (() => Promise<void>) =>
    onBenches(openBench)((bench) => test(bench, createQueued()));
  const alive = { isAlive: () => true };
  const submit = (engine: Engine, id: string): Promise<void> =>
    engine.submit("body", { lane: id.slice(0, 1) }, { id, title: id });
  /** The first has the turn before another asks for it. */
  const submitAll = async (
    engine: Engine,
    queued: Queued,
    [first = "", ...others]: readonly string[],
  ): Promise<void> => {
    await submit(engine, first);
    await until(() => queued.begun.includes(first));
    for (const id of others) await submit(engine, id);
  };

  describe(`${name}: queues`, () => {
    it(
      "run a limited number at once in all engines, in turn by lane",
      onBench(async (bench, queued) => {
        const engines = [bench.engine(alive), bench.engine(alive)] as const;
        for (const engine of engines) queued.define(engine, { atOnce: 1 });
        for (const [at, id] of ["a1", "a2", "a3", "b1"].entries()) {
          await submit(engines[at % 2] ?? engines[0], id);
          await until(async () =>
            id === "a1"
              ? queued.begun.length === 1
              : (await bench.record.getRun(id))?.owner === null,
          );
        }
        for (const id of ["a1", "b1", "a2", "a3"]) {
          await until(async () => {
            for (const engine of engines) await engine.start();
            return queued.begun.at(-1) === id;
          });
          queued.end(id);
          await untilEnded(bench, id);
        }
        assert.equal(queued.most(), 1);
        assert.deepEqual(queued.takeovers, [], "to wait is not to be interrupted");
        assert.equal(queued.calls.get("a1"), 1);
        assert.equal(queued.calls.get("a2"), 2);
      }),
    );

    it(
      "give waiting runs to another engine when one dies, and a run with its turn",
      onBench(async (bench, queued) => {
        const first = bench.engine();
        queued.define(first, { atOnce: 1 });
        await submitAll(first, queued, ["a1", "a2"]);
        await until(async () => (await bench.record.getRun("a2"))?.owner === null);
        first.crash();
        const second = bench.engine();
        queued.define(second, { atOnce: 1 });
        assert.deepEqual(await second.start(), ["a1"]);
        await until(() => queued.begun.length === 2);
        assert.deepEqual(queued.begun, ["a1", "a1"]);
        assert.deepEqual(queued.takeovers, ["a1"]);
        queued.end("a1");
        await until(() => queued.begun.length === 3);
        queued.end("a2");
        await second.result("a2");
        assert.deepEqual(queued.begun, ["a1", "a1", "a2"]);
      }),
    );

    it(
      "drop a run that is cancelled while it waits",
      onBench(async (bench, queued) => {
        const engine = bench.engine();
        queued.define(engine, { atOnce: 1 });
        await submitAll(engine, queued, ["a1", "a2", "a3"]);
        await until(async () => (await bench.record.getRun("a3"))?.owner === null);
        await engine.cancel("a2", { tree: true });
        assert.equal((await engine.result("a2")).ending, "cancelled");
        queued.end("a1");
        await until(() => queued.begun.includes("a3"));
        assert.deepEqual(queued.begun, ["a1", "a3"]);
        queued.end("a3");
        await engine.result("a3");
      }),
    );

    it(
      "can run fewer in one engine than in all, and another takes the rest",
      onBench(async (bench, queued) => {
        const engines = [bench.engine(alive), bench.engine(alive)] as const;
        for (const engine of engines) queued.define(engine, { atOnce: 8, here: 1 });
        await submitAll(engines[0], queued, ["a1", "a2"]);
        await until(async () => (await bench.record.getRun("a2"))?.owner === null);
        await engines[1].start();
        await until(() => queued.begun.length === 2);
        for (const id of ["a1", "a2"]) queued.end(id);
        for (const id of ["a1", "a2"]) await untilEnded(bench, id);
      }),
    );

    it(
      "are left alone by an engine that is retired",
      onBench(async (bench, queued) => {
        const old = bench.engine(alive);
        const next = bench.engine(alive);
        for (const engine of [old, next]) queued.define(engine, { atOnce: 1 });
        await submitAll(old, queued, ["a1", "a2"]);
        await until(async () => (await bench.record.getRun("a2"))?.owner === null);
        old.retire();
        queued.end("a1");
        await old.idle();
        assert.deepEqual(queued.begun, ["a1"]);
        await next.start();
        await until(() => queued.begun.length === 2);
        queued.end("a2");
        await next.result("a2");
      }),
    );
  });
}

/** In any engine: an engine asks again for runs of another only when the bench's clock is turned. */
async function untilEnded({ record }: Bench, id: string): Promise<void> {
  await until(async () => (await record.getRun(id))?.status === "ended");
}

function createQueued(): Queued {
  const gates = new Map<string, Gate>();
  const gateOf = (id: string): Gate => {
    const gate = gates.get(id) ?? createGate();
    gates.set(id, gate);
    return gate;
  };
  const begun: string[] = [];
  const takeovers: string[] = [];
  const calls = new Map<string, number>();
  let running = 0;
  let most = 0;
  return {
    begun,
    calls,
    takeovers,
    most: () => most,
    define(engine, limits = { atOnce: 1 }) {
      engine.defineQueue("q", limits);
      engine.define("body", async (context, input) => {
        calls.set(context.id, (calls.get(context.id) ?? 0) + 1);
        if (context.isTakeover) takeovers.push(context.id);
        await context.turn("q", String((input as { lane: string }).lane));
        begun.push(context.id);
        most = Math.max(most, ++running);
        await context.step("work", () => gateOf(context.id).opened.then(() => null));
        running--;
        return completed(null);
      });
    },
    end: (id) => gateOf(id).open(),
  };
}
