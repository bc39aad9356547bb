/** Ownership of runs: waiting, stopping, taking over and being taken over. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure, toFailure } from "../../src/base/failure.ts";
import type { Json } from "../../src/base/json.ts";
import type { RunBody, WaitOptions } from "../../src/engine/engine.ts";
import { aborted } from "./engine-contract.ts";
import {
  type Bench,
  completed,
  createGate,
  notice,
  type OpenBench,
  onBenches,
  readAll,
  settle,
  toTexts,
  turnUntil,
  until,
} from "./engine-fixture.ts";

const RUN = { id: "run_1", title: "a run" };

export function describeOwnership(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  describe(`${name}: waiting for messages`, () => {
    const defineWaiter = (engine: ReturnType<Bench["engine"]>, count = 1): void => {
      engine.define("waiter", async (context) => {
        const heard: Json[] = [];
        for (let i = 0; i < count; i++) heard.push(await context.waitFor("approval", 5000));
        return completed(heard);
      });
    };

    it(
      "receives what was left before and what comes while it waits",
      onBench(async (bench) => {
        const engine = bench.engine();
        const gate = createGate();
        engine.define("waiter", async (context) => {
          await context.step("gate", () => gate.opened.then(() => null));
          return completed([await context.waitFor("t", 5000), await context.waitFor("t", 5000)]);
        });
        await engine.submit("waiter", null, RUN);
        await engine.signal("run_1", "t", { body: "before", key: "1" });
        await engine.signal("run_1", "t", { body: "before", key: "1" });
        gate.open();
        await settle();
        await engine.signal("run_1", "t", { body: "while", key: "2" });
        assert.deepEqual((await engine.result("run_1")).result, ["before", "while"]);
      }),
    );

    it(
      "reports when it begins to wait, and stops on request",
      onBench(async (bench) => {
        const engine = bench.engine();
        const stop = new AbortController();
        const waits: string[] = [];
        engine.define("waiter", async (context) => {
          const waitFor = (options: WaitOptions): Promise<Json> =>
            context.waitFor("t", Number.POSITIVE_INFINITY, options);
          const found = await waitFor({ onWait: () => waits.push("first") });
          const { signal } = stop;
          const left = await waitFor({ onWait: () => waits.push("second"), signal }).catch(
            (thrown) => toFailure(thrown).message,
          );
          return completed([found, left, await waitFor({})]);
        });
        await engine.submit("waiter", null, { ...RUN, isHeld: true });
        await engine.signal("run_1", "t", { body: "there before", key: "1" });
        await engine.resume("run_1");
        await until(() => waits.length > 0);
        assert.deepEqual(waits, ["second"]);
        stop.abort(new Failure("cancelled", "left off"));
        await settle();
        await engine.signal("run_1", "t", { body: "after", key: "2" });
        const { result } = await engine.result("run_1");
        assert.deepEqual(result, ["there before", "left off", "after"]);
      }),
    );

    it(
      "finds within a second what another process left",
      onBench(async (bench) => {
        const engine = bench.engine();
        const other = bench.engine();
        defineWaiter(engine);
        await engine.submit("waiter", null, RUN);
        await settle();
        await other.signal("run_1", "approval", { body: "yes", key: "1" });
        assert.deepEqual((await turnUntil(bench, engine.result("run_1"))).result, ["yes"]);
      }),
    );

    it(
      "waits over restarts until the time it had from the beginning",
      onBench(async (bench) => {
        const first = bench.engine();
        defineWaiter(first, 2);
        await first.submit("waiter", null, RUN);
        await settle();
        await first.signal("run_1", "approval", { body: "yes", key: "1" });
        await settle();
        bench.clock.advance(3000);
        first.crash();
        const second = bench.engine();
        defineWaiter(second, 2);
        await second.resume("run_1");
        await settle();
        bench.clock.advance(1000);
        await settle();
        assert.equal((await second.status("run_1"))?.status, "running");
        assert.deepEqual((await turnUntil(bench, second.result("run_1"))).result, ["yes", null]);
      }),
    );

    it(
      "still has the message after the process died right after taking it",
      onBench(async (bench) => {
        const first = bench.engine();
        const dying = bench.engine({ faults: { hangsTaking: true } });
        defineWaiter(dying);
        defineWaiter(first);
        await dying.submit("waiter", null, RUN);
        await dying.signal("run_1", "approval", { body: "yes", key: "1" });
        await settle();
        dying.crash();
        await first.resume("run_1");
        assert.deepEqual((await first.result("run_1")).result, ["yes"]);
      }),
    );

    it(
      "refuses a message for a run that is over or never existed",
      onBench(async (bench) => {
        const engine = bench.engine();
        engine.define("agent", async () => completed(null));
        await engine.submit("agent", null, RUN);
        await engine.result("run_1");
        const message = { body: 1, key: "1" };
        await assert.rejects(engine.signal("run_1", "t", message), { code: "conflict" });
        await assert.rejects(engine.signal("run_x", "t", message), { code: "not_found" });
      }),
    );
  });

  describe(`${name}: ownership`, () => {
    it(
      "fences a zombie off: its writes are refused, its signal aborts, its run is not ended",
      onBench(async (bench) => {
        const zombie = bench.engine();
        const owner = bench.engine();
        const started = createGate();
        const goOn = createGate();
        const seen: string[] = [];
        const note = async (work: Promise<unknown>): Promise<void> => {
          await work.catch((thrown) => seen.push(toFailure(thrown).code));
        };
        zombie.define("agent", async (context) => {
          await context.step("one", async () => {
            started.open();
            await goOn.opened;
            await note(context.emit([notice("zombie")]));
            seen.push(toFailure(context.signal.reason).code);
            return "zombie";
          });
          return completed("zombie");
        });
        owner.define("agent", async (context) => {
          await context.step("one", async () => {
            await context.emit([notice("owner")]);
            return null;
          });
          goOn.open();
          await settle();
          return completed("owner");
        });
        await zombie.submit("agent", null, RUN);
        await started.opened;
        await owner.resume("run_1");
        assert.equal((await owner.result("run_1")).result, "owner");
        assert.equal((await turnUntil(bench, zombie.result("run_1"))).result, "owner");
        assert.deepEqual(seen, ["fenced", "fenced"]);
        assert.deepEqual(toTexts(await readAll(owner, "run_1")), ["owner", "run_end"]);
      }),
    );

    it(
      "does not resume a run that is unknown, ended, not defined or run by another process",
      onBench(async (bench) => {
        const engine = bench.engine();
        const other = bench.engine({ isAlive: () => true });
        engine.define("agent", async () => completed(null));
        engine.define("endless", aborted);
        other.define("endless", aborted);
        await engine.submit("agent", null, RUN);
        await engine.submit("endless", null, { id: "run_2", title: "" });
        await engine.result("run_1");
        const running = {
          code: "conflict",
          message: /^Run run_2 is still running in process \d+\.$/,
        };
        const ended = { code: "conflict", message: "Run run_1 has ended already: completed." };
        await assert.rejects(engine.resume("run_x"), { code: "not_found" });
        await assert.rejects(engine.resume("run_1"), ended);
        await assert.rejects(engine.resume("run_2"), running);
        await assert.rejects(other.resume("run_2"), running);
        await assert.rejects(bench.engine().resume("run_2"), { code: "invalid_request" });
        bench.clock.advance(60_000);
        assert.deepEqual(await other.start(), []);
        assert.equal((await engine.status("run_2"))?.epoch, 1);
      }),
    );

    it(
      "takes over again and again, by several at once, and each run once",
      onBench(async (bench) => {
        const first = bench.engine({ workerId: "first" });
        const define = (engine: ReturnType<Bench["engine"]>): void =>
          engine.define("node", async (context, depth) => {
            if (Number(depth) > 0) await context.child("a", "node", Number(depth) - 1);
            return await aborted(context);
          });
        define(first);
        for (const id of ["run_1", "run_2", "run_3"])
          await first.submit("node", 1, { id, title: "" });
        await until(async () => (await first.status("run_3/a")) !== undefined);
        await settle();
        first.crash();
        const isAlive = ({ id }: { readonly id: string }): boolean => id !== "first";
        const heirs = ["second", "third"].map((workerId) => bench.engine({ workerId, isAlive }));
        for (const heir of heirs) define(heir);
        const rounds = [1, 2, 3].flatMap(() => heirs.map((heir) => heir.start()));
        await Promise.all(rounds);
        await settle();
        for (const id of ["run_1", "run_2", "run_3"]) {
          const parent = await bench.record.getRun(id);
          const child = await bench.record.getRun(`${id}/a`);
          assert.deepEqual([parent?.epoch, child?.epoch], [2, 2], id);
          assert.equal(child?.owner, parent?.owner, "a tree stays together");
        }
      }),
    );

    it(
      "takes over the trees of the roots that it is given, and no others",
      onBench(async (bench) => {
        const first = bench.engine({ workerId: "first" });
        const parent: RunBody = async (context) => {
          await context.child("a", "leaf", null);
          return await aborted(context);
        };
        const define = (engine: ReturnType<Bench["engine"]>): void => {
          for (const name of ["mine", "yours"]) engine.define(name, parent);
          engine.define("leaf", aborted);
        };
        define(first);
        await first.submit("mine", null, { id: "run_1", title: "" });
        await first.submit("yours", null, { id: "run_2", title: "" });
        await until(async () => (await first.status("run_2/a")) !== undefined);
        await settle();
        first.crash();
        const heir = bench.engine({ isAlive: () => false });
        define(heir);
        assert.deepEqual(await heir.start(["mine"]), ["run_1"]);
        await until(async () => (await heir.status("run_1/a"))?.epoch === 2);
        assert.equal((await bench.record.getRun("run_2/a"))?.owner, "first");
        assert.deepEqual(await heir.start(), ["run_2"]);
        await until(async () => (await heir.status("run_2/a"))?.epoch === 2);
      }),
    );

    it(
      "stops without an ending, and another process can continue at once",
      onBench(async (bench) => {
        const first = bench.engine();
        const started = createGate();
        first.define("agent", async (context) => {
          await context.step("one", async () => "done before");
          // A tool that turns its own abort into a result must not get that into the journal.
          return completed(
            await context.step("two", async () => {
              started.open();
              return await aborted(context).catch(() => "Error: cancelled");
            }),
          );
        });
        await first.submit("agent", null, RUN);
        await started.opened;
        const elsewhere = bench.engine();
        elsewhere.define("endless", aborted);
        await elsewhere.submit("endless", null, { id: "run_2", title: "" });
        const waiting = ["run_1", "run_2"].flatMap((id) => [first.result(id), readAll(first, id)]);
        const rejected = waiting.map((work) => assert.rejects(work, { code: "cancelled" }));
        await settle();
        await Promise.all([first.stop(), ...rejected]);
        await assert.rejects(first.submit("agent", null, RUN), { code: "cancelled" });
        await first.stop();
        const second = bench.engine({ isAlive: undefined });
        second.define("agent", async (context) => {
          const one = await context.step("one", async () => "again");
          return completed([one, await context.step("two", async () => "done after")]);
        });
        await second.resume("run_1");
        assert.deepEqual((await second.result("run_1")).result, ["done before", "done after"]);
      }),
    );

    it(
      "tells waiting callers when an ending cannot be written, and can be tried again",
      onBench(async (bench) => {
        let isFull = true;
        const refuseEnding = (): Failure | undefined =>
          isFull ? new Failure("internal", "The disk is full.") : undefined;
        const engine = bench.engine({ faults: { refuseEnding }, isAlive: () => true });
        engine.define("agent", async () => completed("done"));
        await engine.submit("agent", null, RUN);
        await assert.rejects(engine.result("run_1"), { message: "The disk is full." });
        await assert.rejects(readAll(engine, "run_1"), { message: "The disk is full." });
        isFull = false;
        await engine.resume("run_1");
        assert.equal((await engine.result("run_1")).result, "done");
      }),
    );

    it(
      "tells callers that a run has ended if only the answer to its ending was lost",
      onBench(async (bench) => {
        const loseAnswer = (method: string): Failure | undefined =>
          method === "finish" ? new Failure("store_busy", "The record is silent.") : undefined;
        const engine = bench.engine({ faults: { loseAnswer }, isAlive: () => true });
        const gate = createGate();
        engine.define("agent", async () => {
          await gate.opened;
          return completed("done");
        });
        await engine.submit("agent", null, RUN);
        const early = [engine.result("run_1"), readAll(engine, "run_1")] as const;
        gate.open();
        assert.equal((await early[0]).result, "done");
        assert.deepEqual(toTexts(await early[1]), ["run_end"]);
        assert.equal((await engine.result("run_1")).result, "done");
        assert.deepEqual(toTexts(await readAll(engine, "run_1")), ["run_end"]);
      }),
    );
  });
}
