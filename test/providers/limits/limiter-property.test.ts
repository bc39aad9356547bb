import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Failure } from "../../../src/base/failure.ts";
import { createLimiter, type Limiter, type Slot } from "../../../src/providers/limits/limiter.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/index.ts";
import { createTurns } from "./turns.ts";

const OVERLOAD = new Failure("provider_overloaded", "Busy.");

describe("the limiter in every case", () => {
  const STEP = fc.record({
    what: fc.constantFrom("enter", "enter", "enter", "end", "end", "refuse", "pause", "abort"),
    number: fc.nat(7),
    ms: fc.nat(3000),
  });

  it("keeps its limit, its pauses and its turns, and forgets calls that left", async () => {
    const property = fc.asyncProperty(fc.array(STEP, { maxLength: 60 }), async (steps) => {
      const clock = createManualClock();
      const limiter = createLimiter({ vendor: "test", clock, random: () => 0.5 });
      const line = createLine(limiter, clock);
      for (const step of steps) {
        line.act(step);
        await clock.advance(0);
        line.check();
      }
      await line.drain();
      assert.deepEqual([limiter.inFlight, limiter.waiting, clock.sleeping], [0, 0, 0]);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

interface Step {
  readonly what: "enter" | "end" | "refuse" | "pause" | "abort";
  readonly number: number;
  readonly ms: number;
}

/** Calls of a few runs at a limiter, and invariants that must hold for them. */
function createLine(limiter: Limiter, clock: ManualClock) {
  const turns = createTurns();
  const aborts = new Set<AbortController>();
  const held: Slot[] = [];
  const failures: Error[] = [];
  let opensAtMs = 0;

  async function enter(run: string): Promise<void> {
    const abort = new AbortController();
    aborts.add(abort);
    turns.enter(run);
    try {
      held.push(await limiter.acquire({ signal: abort.signal, run }));
      assert.ok(limiter.inFlight <= limiter.limit, "more in flight than the limit");
      assert.ok(clock.now() >= opensAtMs, "let through in a pause");
      assert.equal(abort.signal.aborted, false, "an aborted call was let through");
      turns.serve(run);
    } catch (thrown) {
      if (!abort.signal.aborted) throw thrown;
      turns.leave(run);
    }
    aborts.delete(abort);
  }

  const takeHeld = (number: number): Slot | undefined =>
    held.splice(number % Math.max(1, held.length), 1)[0];

  const actions: Record<Step["what"], (step: Step) => void> = {
    enter({ number }) {
      for (let count = 0; count < 5; count++)
        enter(`run-${number % 4}`).catch((thrown) => failures.push(thrown));
    },
    end({ number }) {
      const slot = takeHeld(number);
      slot?.accept();
      slot?.release();
    },
    refuse: ({ number }) => takeHeld(number)?.release(OVERLOAD),
    pause({ ms }) {
      opensAtMs = Math.max(opensAtMs, clock.now() + ms);
      limiter.pause(ms);
    },
    abort: ({ number }) => [...aborts][number]?.abort(),
  };

  function check(): void {
    for (const thrown of failures) throw thrown;
    assert.equal(limiter.inFlight, held.length);
    assert.equal(limiter.waiting, turns.waiting);
  }

  return {
    act: (step: Step): void => actions[step.what](step),
    check,
    async drain(): Promise<void> {
      while (held.length > 0 || turns.waiting > 0) {
        for (const slot of held.splice(0)) slot.release();
        await clock.advance(1000);
        check();
      }
    },
  };
}
