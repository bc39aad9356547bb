/**
 * What an owner does that stood still: the record refuses its writes, and it must not repeat calls outside the record
 * that others have made.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunBody, Step } from "../../src/engine/engine.ts";
import { LEASE_MS } from "../../src/store/ownership.ts";
import {
  type Bench,
  completed,
  createGate,
  type Gate,
  type OpenBench,
  onBenches,
  settle,
} from "./engine-fixture.ts";

const RUN = { id: "run_1", title: "a run" };

/** A call of a model or a tool, which no record can refuse. */
type Call = (by: string) => void;

/** Where the owner stands still: between two steps, or inside one, right before its call. */
const PLACES: Readonly<
  Record<string, (by: string, call: Call, wait: () => Promise<void>) => RunBody>
> = {
  "between two steps": (by, call, wait) => async (context) => {
    await context.step("first", async () => null);
    await wait();
    await context.step("call", async () => {
      call(by);
      return by;
    });
    return completed(by);
  },
  "inside a step, before its call": (by, call, wait) => async (context) => {
    await context.step("call", async (step: Step) => {
      await wait();
      await step.confirm();
      call(by);
      return by;
    });
    return completed(by);
  },
};

export function describeStandstill(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  describe(`${name}: an owner that stood still`, () => {
    for (const [place, toBody] of Object.entries(PLACES)) {
      /** The owner of the run, which waits there until the gate opens. */
      const begin = async (bench: Bench, calls: string[], gate: Gate) => {
        const owner = bench.engine({ workerId: "owner" });
        const entered = createGate();
        const wait = (): Promise<void> => {
          entered.open();
          return gate.opened;
        };
        owner.define(
          "work",
          toBody("owner", (by) => calls.push(by), wait),
        );
        await owner.submit("work", null, RUN);
        await entered.opened;
        return owner;
      };

      it(
        `makes no call that another owner has made, ${place}`,
        onBench(async (bench) => {
          const gate = createGate();
          const calls = [] as string[];
          const owner = await begin(bench, calls, gate);
          bench.clock.advance(LEASE_MS + 1);
          const other = bench.engine({ workerId: "other" });
          other.define(
            "work",
            toBody(
              "other",
              (by) => calls.push(by),
              async () => {},
            ),
          );
          await other.resume("run_1");
          assert.equal((await other.result("run_1")).result, "other");
          gate.open();
          await owner.idle();
          assert.deepEqual(calls, ["other"]);
        }),
      );

      it(
        `continues if no other process has taken over, ${place}`,
        onBench(async (bench) => {
          const gate = createGate();
          const calls = [] as string[];
          const owner = await begin(bench, calls, gate);
          bench.clock.advance(LEASE_MS + 1);
          gate.open();
          assert.equal((await owner.result("run_1")).result, "owner");
          await settle();
          assert.deepEqual(calls, ["owner"]);
        }),
      );
    }
  });
}
