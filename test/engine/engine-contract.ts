/** What every `Engine` must do with one process and its crashes. Called for each store. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { Child, RunBody, RunContext } from "../../src/engine/engine.ts";
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

export function describeEngine(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  describe(`${name}: a run`, () => {
    it(
      "gives its result and its log, from its steps and its ending",
      onBench(async (bench) => {
        const engine = bench.engine();
        engine.define("agent", async (context, input) => {
          const value = await context.step("one", async () => {
            assert.equal(await context.emit([notice("a"), notice("b")]), 1);
            return { said: input };
          });
          return completed(value);
        });
        await engine.submit("agent", "hello", RUN);
        const outcome = await engine.result("run_1");
        assert.deepEqual(outcome, completed({ said: "hello" }));
        const log = await readAll(engine, "run_1");
        assert.deepEqual(toTexts(log), ["a", "b", "run_end"]);
        const run = await engine.status("run_1");
        assert.deepEqual([run?.status, run?.ending, run?.epoch], ["ended", "completed", 1]);
        assert.deepEqual([run?.path, run?.parent_id], ["/root", null]);
      }),
    );

    it(
      "is the same run when it is submitted again, here or elsewhere",
      onBench(async (bench) => {
        let bodies = 0;
        const first = bench.engine();
        const second = bench.engine();
        for (const engine of [first, second]) {
          engine.define("agent", async () => completed(++bodies));
        }
        await Promise.all([first.submit("agent", 1, RUN), first.submit("agent", 2, RUN)]);
        await second.submit("agent", 3, RUN);
        await first.result("run_1");
        assert.equal((await second.result("run_1")).result, 1);
        assert.equal(bodies, 1);
      }),
    );

    it(
      "ends as failed when its body throws, with the reason in the log",
      onBench(async (bench) => {
        const engine = bench.engine({ faults: { slowLog: true } });
        engine.define("agent", async (context) => {
          await context.step("one", async () => {
            // Not awaited: it still comes before the ending.
            void context.emit([notice("a")]);
            throw new Failure("provider_rejected", "No such model.");
          });
          return completed(null);
        });
        await engine.submit("agent", null, RUN);
        const { ending, result, events } = await engine.result("run_1");
        assert.deepEqual([ending, result], ["failed", null]);
        const [end] = events;
        assert.ok(end?.type === "run_end");
        assert.deepEqual(end.error, { code: "provider_rejected", message: "No such model." });
        assert.deepEqual(toTexts(await readAll(engine, "run_1")), ["a", "run_end"]);
        assert.equal(await bench.countSteps("run_1"), 0);
      }),
    );

    it(
      "journals a step only when its events are in the log",
      onBench(async (bench) => {
        const engine = bench.engine({ faults: { slowLog: true } });
        engine.define("agent", async (context) => {
          await context.step("one", async () => {
            void context.emit([notice("a")]);
            return null;
          });
          return completed((await context.readLog()).length);
        });
        await engine.submit("agent", null, RUN);
        assert.equal((await engine.result("run_1")).result, 1);
      }),
    );

    it(
      "reports events of others outside its steps, before its ending",
      onBench(async (bench) => {
        const engine = bench.engine();
        engine.define("agent", async (context) => {
          await context.tell([notice("before")]);
          await context.step("one", async () => {
            await context.emit([notice("a")]);
            await context.tell([notice("meanwhile")]);
            return null;
          });
          // Not awaited: it still comes before the ending.
          void context.tell([notice("last")]);
          return completed(null);
        });
        await engine.submit("agent", null, RUN);
        await engine.result("run_1");
        const texts = toTexts(await readAll(engine, "run_1"));
        assert.deepEqual(texts, ["before", "a", "meanwhile", "last", "run_end"]);
        assert.equal(await bench.countSteps("run_1"), 1);
      }),
    );

    it(
      "ends as timeout when its time is up, also after a takeover, with its children",
      onBench(async (bench) => {
        const define = (engine: ReturnType<Bench["engine"]>): void => {
          engine.define("agent", async (context, input) => {
            if (input === "parent") await context.child("below", "agent", "child");
            await aborted(context);
            return completed(null);
          });
        };
        const first = bench.engine();
        define(first);
        await first.submit("agent", "parent", { ...RUN, timeoutMs: 5000 });
        await until(async () => (await first.status("run_1/below"))?.owner !== undefined);
        first.crash();
        const second = bench.engine();
        define(second);
        await second.resume("run_1");
        await settle();
        bench.clock.advance(4999);
        await settle();
        assert.equal((await second.status("run_1"))?.status, "running");
        assert.equal((await turnUntil(bench, second.result("run_1"), 1)).ending, "timeout");
        assert.equal((await second.result("run_1/below")).ending, "cancelled");
      }),
    );

    it(
      "refuses what would break a replay",
      onBench(async (bench) => {
        const engine = bench.engine();
        const wrong: Record<string, (context: RunContext) => Promise<unknown>> = {
          "uses the step key": async (context) => {
            await context.step("a", async () => 1);
            await context.step("a", async () => 2);
          },
          "uses the child key": async (context) => {
            await context.child("a", "nothing", null);
            await context.child("a", "nothing", null);
          },
          "emits outside a step": (context) => context.emit([notice("a")]),
          "is the engine's": (context) => context.step("@wait", async () => 1),
          "waits for `t` twice": (context) =>
            Promise.all([context.waitFor("t", 1), context.waitFor("t", 1)]),
        };
        engine.define("nothing", async () => completed(null));
        engine.define("agent", async (context, input) => {
          await wrong[String(input)]?.(context);
          return completed(null);
        });
        for (const reason of Object.keys(wrong)) {
          await engine.submit("agent", reason, { id: reason, title: "" });
          const [end] = (await engine.result(reason)).events;
          assert.ok(end?.type === "run_end" && end.error?.code === "internal", reason);
          assert.ok(end.message.includes(reason), end.message);
        }
      }),
    );
  });

  describe(`${name}: after a crash`, () => {
    it(
      "repeats only the step that was in flight, under the same idempotency key",
      onBench(async (bench) => {
        const ran: string[] = [];
        const define = (engine: ReturnType<Bench["engine"]>, crashAt: number): void => {
          engine.define("agent", async (context) => {
            let sum = 0;
            for (let index = 0; index < 5; index++) {
              sum += await context.step(`step:${index}`, async ({ idempotencyKey }) => {
                ran.push(idempotencyKey);
                await context.emit([notice(`${index}@${context.epoch}`)]);
                if (index === crashAt) engine.crash();
                return index;
              });
            }
            return completed(sum);
          });
        };
        const first = bench.engine();
        define(first, 2);
        await first.submit("agent", null, RUN);
        const second = bench.engine();
        // Before, its last event would be refused after the takeover.
        await until(async () => (await second.status("run_1"))?.next_seq === 3);
        define(second, -1);
        bench.clock.advance(60_000);
        assert.deepEqual(await second.start(), ["run_1"]);
        assert.equal((await second.result("run_1")).result, 10);
        const keys = [0, 1, 2, 2, 3, 4].map((index) => `run_1/step:${index}`);
        assert.deepEqual(ran, keys);
        const log = await readAll(second, "run_1");
        assert.deepEqual(toTexts(log), ["0@1", "1@1", "2@1", "2@2", "3@2", "4@2", "run_end"]);
        assert.deepEqual(
          log.map(({ seq }) => seq),
          [0, 1, 2, 3, 4, 5, 6],
        );
        assert.equal((await second.status("run_1"))?.epoch, 2);
      }),
    );

    it(
      "repeats only the parallel steps that had not finished",
      onBench(async (bench) => {
        const ran: string[] = [];
        const define = (engine: ReturnType<Bench["engine"]>, isFirst: boolean): void => {
          engine.define("agent", async (context) => {
            const steps = [0, 1, 2, 3].map((index) => ({
              key: `tool:${index}`,
              fn: async () => {
                ran.push(`${context.epoch}:${index}`);
                if (isFirst && index % 2 === 1) await new Promise(() => {});
                return index * 10;
              },
            }));
            return completed(await context.all(steps));
          });
        };
        const first = bench.engine();
        define(first, true);
        await first.submit("agent", null, RUN);
        await until(async () => (await bench.countSteps("run_1")) === 2);
        first.crash();
        const second = bench.engine();
        define(second, false);
        await second.resume("run_1");
        assert.deepEqual((await second.result("run_1")).result, [0, 10, 20, 30]);
        assert.deepEqual(ran, ["1:0", "1:1", "1:2", "1:3", "2:1", "2:3"]);
      }),
    );

    it(
      "continues a tree of three levels and runs each node once",
      onBench(async (bench) => {
        const ran: string[] = [];
        let isOver = false;
        const node: RunBody = async (context, depth) => {
          await context.step("work", async () => ran.push(context.id));
          if (depth === 0 && !isOver) await new Promise(() => {});
          const below = depth === 0 ? [] : await startTwo(context, Number(depth) - 1);
          const outcomes = await Promise.all(below.map((child) => child.result()));
          return completed([context.id, ...outcomes.map(({ result }) => result)]);
        };
        const first = bench.engine();
        first.define("node", node);
        await first.submit("node", 2, RUN);
        await until(() => ran.length === 7);
        first.crash();
        isOver = true;
        bench.clock.advance(60_000);
        const second = bench.engine();
        second.define("node", node);
        // A parent that continues takes its children over itself.
        assert.deepEqual(await second.start(), ["run_1"]);
        assert.deepEqual((await second.result("run_1")).result, [
          "run_1",
          ["run_1/a", ["run_1/a/a"], ["run_1/a/b"]],
          ["run_1/b", ["run_1/b/a"], ["run_1/b/b"]],
        ]);
        assert.equal(ran.length, 7, "every step had been journaled");
        for (const id of ran) assert.equal((await second.status(id))?.epoch, 2, id);
        const leaf = await second.status("run_1/b/a");
        assert.deepEqual([leaf?.path, leaf?.parent_id], ["/root/b/a", "run_1/b"]);
      }),
    );

    it(
      "has a waiting parent take over a child whose own process died",
      onBench(async (bench) => {
        const isAlive = (): boolean => alive;
        let alive = true;
        const here = bench.engine({ isAlive });
        const elsewhere = bench.engine({ isAlive });
        const waits = createGate();
        for (const engine of [here, elsewhere]) {
          engine.define("child", async () => {
            if (engine === elsewhere) await new Promise(() => {});
            return completed("from here");
          });
        }
        here.define("parent", async (context) => {
          const child = await context.child("a", "child", null);
          waits.open();
          return completed((await child.result()).result);
        });
        await elsewhere.submit("child", null, { id: "run_1/a", title: "", parent_id: "run_1" });
        await here.submit("parent", null, RUN);
        await waits.opened;
        await settle();
        alive = false;
        elsewhere.crash();
        assert.equal((await turnUntil(bench, here.result("run_1"))).result, "from here");
      }),
    );
  });

  describe(`${name}: parallel steps`, () => {
    it(
      "starts them in order, at most as many at once as the limit",
      onBench(async (bench) => {
        const engine = bench.engine();
        const started: number[] = [];
        let running = 0;
        let most = 0;
        engine.define("agent", async (context) => {
          const steps = [5, 1, 3, 2, 4].map((ticks, index) => ({
            key: `tool:${index}`,
            fn: async () => {
              started.push(index);
              most = Math.max(most, ++running);
              for (let tick = 0; tick < ticks; tick++) await settle();
              running--;
              return index;
            },
          }));
          return completed(await context.all(steps, 2));
        });
        await engine.submit("agent", null, RUN);
        assert.deepEqual((await engine.result("run_1")).result, [0, 1, 2, 3, 4]);
        assert.deepEqual([started, most], [[0, 1, 2, 3, 4], 2]);
      }),
    );

    it(
      "rejects with the first error only after the others have settled",
      onBench(async (bench) => {
        const engine = bench.engine();
        const events: string[] = [];
        const gate = createGate();
        engine.define("agent", async (context) => {
          const slow = async (): Promise<number> => {
            await gate.opened;
            return events.push("slow is done");
          };
          const broken = async (): Promise<number> => {
            throw new Failure("internal", "first");
          };
          try {
            const late = async (): Promise<number> => events.push("started late");
            const fns = [slow, broken, late];
            await context.all(
              fns.map((fn, index) => ({ key: `tool:${index}`, fn })),
              2,
            );
          } catch (thrown) {
            events.push(thrown instanceof Failure ? thrown.message : "");
          }
          return completed(null);
        });
        await engine.submit("agent", null, RUN);
        await settle();
        assert.deepEqual(events, []);
        gate.open();
        await engine.result("run_1");
        assert.deepEqual(events, ["slow is done", "first"]);
      }),
    );
  });
}

async function startTwo(context: RunContext, depth: number): Promise<Child[]> {
  return [await context.child("a", "node", depth), await context.child("b", "node", depth)];
}

export async function aborted({ signal }: RunContext): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
  throw signal.reason;
}
