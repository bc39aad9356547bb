/**
 * Runs that begin because another has ended: once for each ending, whichever process writes it and whichever has room.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { Engine, Following } from "../../src/engine/engine.ts";
import {
  type Bench,
  completed,
  createGate,
  type OpenBench,
  onBenches,
  until,
} from "./engine-fixture.ts";

const QUEUE = "after";

const following: Following = ({ input }) =>
  input === "alone"
    ? []
    : [{ key: "next", name: "next", title: "next", input, queue: QUEUE, lane: "a" }];

export function describeFollowing(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  /** `first` ends as its input says; `next` notes that it was called. */
  function define(engine: Engine, called: string[], atOnce = 8): void {
    engine.defineQueue(QUEUE, { atOnce });
    engine.define(
      "first",
      async (_, input) => {
        if (input === "fail") throw new Failure("provider_failed", "No.");
        return completed(null);
      },
      following,
    );
    engine.define("next", async ({ id, parent_id }) => {
      called.push(`${id} below ${parent_id}`);
      return completed(null);
    });
  }
  const submit = (engine: Engine, id: string, input: string): Promise<void> =>
    engine.submit("first", input, { id, title: id });
  const untilEnded = (bench: Bench, id: string): Promise<void> =>
    until(async () => (await bench.record.getRun(id))?.status === "ended");

  describe(`${name}: runs that follow others`, () => {
    it(
      "begin when a run has ended, successfully or not, and only if one is to follow",
      onBench(async (bench) => {
        const engine = bench.engine();
        const called: string[] = [];
        define(engine, called);
        for (const id of ["well", "fail", "alone"]) await submit(engine, id, id);
        await untilEnded(bench, "well/next");
        await untilEnded(bench, "fail/next");
        await untilEnded(bench, "alone");
        assert.deepEqual(called.sort(), ["fail/next below fail", "well/next below well"]);
        assert.equal(await bench.record.getRun("alone/next"), undefined);
      }),
    );

    it(
      "exist once even if a process dies between the ending and their beginning",
      onBench(async (bench) => {
        const first = bench.engine();
        const called: string[] = [];
        // It has no room for the following runs, like a process that dies at that moment.
        define(first, called, 0);
        await submit(first, "one", "well");
        await untilEnded(bench, "one");
        first.crash();
        const second = bench.engine();
        define(second, called);
        await second.start();
        await untilEnded(bench, "one/next");
        assert.deepEqual(called, ["one/next below one"]);
      }),
    );

    it(
      "begin for a run that is cancelled before its body was called",
      onBench(async (bench) => {
        const engine = bench.engine();
        const called: string[] = [];
        define(engine, called);
        await engine.submit("first", "well", { id: "held", title: "held", isHeld: true });
        await engine.cancel("held", { tree: true });
        await untilEnded(bench, "held/next");
        assert.deepEqual(called, ["held/next below held"]);
      }),
    );
  });

  describe(`${name}: a process that stops taking runs from queues`, () => {
    it(
      "gives up a run that asks for its turn again, and another continues it",
      onBench(async (bench) => {
        const alive = { isAlive: () => true };
        const old = bench.engine(alive);
        const young = bench.engine(alive);
        const places: string[] = [];
        const waits = createGate();
        for (const [engine, place] of [
          [old, "old"],
          [young, "young"],
        ] as const) {
          engine.defineQueue(QUEUE, { atOnce: 1 });
          engine.define("waiting", async (context) => {
            await context.turn(QUEUE, "a");
            places.push(place);
            if (place === "young") return completed(null);
            waits.open();
            await new Promise((resolve) => context.retired.addEventListener("abort", resolve));
            await context.giveTurnBack();
            await context.turn(QUEUE, "a");
            return assert.fail("the old process has kept its turn");
          });
        }
        await old.submit("waiting", null, { id: "run", title: "run" });
        await waits.opened;
        old.retire();
        await until(async () => {
          await young.start();
          return (await bench.record.getRun("run"))?.status === "ended";
        });
        assert.deepEqual(places, ["old", "young"]);
        assert.equal((await bench.record.getRun("run"))?.ending, "completed");
      }),
    );
  });
}
