/** What every `Engine` must do with stages: run code with an ending of its own, open beside steps and other stages. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import type { Engine, RunContext } from "../../src/engine/engine.ts";
import {
  completed,
  createGate,
  notice,
  type OpenBench,
  onBenches,
  readAll,
  toTexts,
  until,
} from "./engine-fixture.ts";

const RUN = { id: "run_1", title: "a run" };

export function describeStages(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  describe(`${name}: a stage`, () => {
    it(
      "is entered again if it was interrupted, with its child and its wait, and never after it has ended",
      onBench(async (bench) => {
        const entered: string[] = [];
        const waits: string[] = [];
        const bodies: string[] = [];
        const ask = (context: RunContext, key: string): Promise<Json> =>
          context.stage(key, async () => {
            entered.push(key);
            const child = await context.child(key, "child", null);
            const { result } = await child.result();
            const onWait = (): void => void waits.push(key);
            const answer = await context.waitFor(key, Number.POSITIVE_INFINITY, { onWait });
            return [result, answer];
          });
        const define = (engine: Engine): void => {
          engine.define("child", async ({ id }) => {
            bodies.push(id);
            return completed("grown");
          });
          engine.define("agent", async (context) =>
            completed([await ask(context, "first"), await ask(context, "second")]),
          );
        };
        const first = bench.engine();
        define(first);
        await first.submit("agent", null, RUN);
        await until(() => waits.includes("first"));
        await first.signal("run_1", "first", { body: "yes", key: "a" });
        await until(() => waits.includes("second"));
        first.crash();

        const second = bench.engine();
        define(second);
        await second.start();
        await until(() => waits.length === 3);
        await second.signal("run_1", "second", { body: "too", key: "b" });
        const { result } = await second.result("run_1");
        const answers = [
          ["grown", "yes"],
          ["grown", "too"],
        ];
        assert.deepEqual(result, answers);
        assert.deepEqual(entered, ["first", "second", "second"]);
        assert.deepEqual(bodies, ["run_1/first", "run_1/second"], "a child is found again");
      }),
    );

    it(
      "is open beside steps, and its last events are written with its ending",
      onBench(async (bench) => {
        const engine = bench.engine();
        const step = createGate();
        engine.define("child", async () => completed("grown"));
        engine.define("agent", async (context) => {
          const stage = {
            key: "stage",
            isStage: true,
            fn: async ({ end }: { end(events: [ReturnType<typeof notice>]): void }) => {
              const child = await context.child("a", "child", null);
              const { result } = await child.result();
              await context.emit([notice("grown up")]);
              step.open();
              end([notice("ended")]);
              return result;
            },
          };
          const one = { key: "step", fn: () => step.opened.then(() => "stepped") };
          return completed(await context.all<Json>([one, stage]));
        });
        await engine.submit("agent", null, RUN);
        assert.deepEqual((await engine.result("run_1")).result, ["stepped", "grown"]);
        const log = await readAll(engine, "run_1");
        assert.deepEqual(toTexts(log), ["grown up", "ended", "run_end"]);
        assert.equal(await bench.countSteps("run_1"), 2);
      }),
    );
  });
}
