/** How an engine comes to rest before its process stops. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunContext } from "../../src/engine/engine.ts";
import {
  completed,
  createGate,
  type Gate,
  type OpenBench,
  onBenches,
  settle,
} from "./engine-fixture.ts";

const RUN = { id: "run_1", title: "" };

export function describeDraining(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  describe(`${name}: before it stops`, () => {
    it(
      "a run finishes the call it makes and rests before the next",
      onBench(async (bench) => {
        const first = bench.engine();
        const calls = createCalls();
        first.define("agent", calls.body);
        await first.submit("agent", null, RUN);
        await calls.began("one");
        const drained = watch(first.drain());
        await settle();
        assert.equal(drained.isDone, false, "the call has not ended");
        calls.answer("one");
        await drained.done;
        await first.stop();
        assert.deepEqual(calls.made, ["one"]);

        const second = bench.engine();
        const again = createCalls();
        second.define("agent", again.body);
        await second.start();
        await again.began("two");
        again.answer("two");
        assert.deepEqual((await second.result("run_1")).result, ["one", "two"]);
        assert.deepEqual(again.made, ["two"], "what had finished is not done again");
      }),
    );

    it(
      "a run with a follower continues to its end",
      onBench(async (bench) => {
        const engine = bench.engine();
        const calls = createCalls();
        engine.define("agent", calls.body);
        await engine.submit("agent", null, RUN);
        const follower = engine.follow("run_1", -1);
        const ended = follower.next();
        await calls.began("one");
        const drained = watch(engine.drain());
        calls.answer("one");
        await calls.began("two");
        assert.equal(drained.isDone, false);
        calls.answer("two");
        await drained.done;
        assert.equal((await engine.result("run_1")).ending, "completed");
        await ended;
        await follower.return(undefined);
      }),
    );

    it(
      "a parent rests with its children, and not before its own call has ended",
      onBench(async (bench) => {
        const engine = bench.engine();
        const child = createCalls();
        const own = createGate();
        engine.define("child", child.body);
        engine.define("agent", async (context) => {
          const asking = context.stage("ask", async ({ idempotencyKey }) => {
            const started = await context.child("a", "child", null);
            await context.waiting(idempotencyKey, () => started.result());
            return "asked";
          });
          await Promise.all([asking, context.step("own", () => own.opened.then(() => "own"))]);
          return completed(null);
        });
        await engine.submit("agent", null, RUN);
        await child.began("one");
        const drained = watch(engine.drain());
        child.answer("one");
        await settle();
        assert.equal(drained.isDone, false, "the parent makes a call of its own");
        own.open();
        await drained.done;
        assert.deepEqual(child.made, ["one"]);
      }),
    );

    it(
      "a run that waits for a place does not delay the stop, and an idle engine is ready at once",
      onBench(async (bench) => {
        const engine = bench.engine();
        engine.define("queued", (context) =>
          context.waiting(undefined, () => untilAborted(context)),
        );
        await bench.engine().drain();
        await engine.submit("queued", null, RUN);
        await engine.drain();
        assert.deepEqual(await engine.start(), [], "nothing is taken over any more");
      }),
    );
  });
}

function untilAborted({ signal }: RunContext): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function watch(done: Promise<void>): { readonly done: Promise<void>; readonly isDone: boolean } {
  let isDone = false;
  void done.then(() => {
    isDone = true;
  });
  return {
    done,
    get isDone() {
      return isDone;
    },
  };
}

interface Calls {
  readonly made: readonly string[];
  /** Two calls, one after the other, with a rest before each. */
  body(context: RunContext): Promise<ReturnType<typeof completed>>;
  began(key: string): Promise<void>;
  answer(key: string): void;
}

function createCalls(): Calls {
  const made: string[] = [];
  const gates = new Map<string, { readonly begun: Gate; readonly answered: Gate }>();
  const gateOf = (key: string) => {
    const gate = gates.get(key) ?? { begun: createGate(), answered: createGate() };
    gates.set(key, gate);
    return gate;
  };
  return {
    made,
    async body(context) {
      const results: string[] = [];
      for (const key of ["one", "two"]) {
        await context.rest();
        results.push(
          await context.step(key, async () => {
            made.push(key);
            gateOf(key).begun.open();
            await gateOf(key).answered.opened;
            return key;
          }),
        );
      }
      return completed(results);
    },
    began: (key) => gateOf(key).begun.opened,
    answer: (key) => gateOf(key).answered.open(),
  };
}
