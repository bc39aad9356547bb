/** What every `Engine` must do with messages that run code looks for between its steps. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import type { Engine, RunContext } from "../../src/engine/engine.ts";
import { completed, createGate, type OpenBench, onBenches, settle } from "./engine-fixture.ts";

const RUN = { id: "run_1", title: "a run" };

export function describeTaking(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  const left = (engine: Engine, body: string, key = body): Promise<void> =>
    engine.signal("run_1", "t", { body, key });

  describe(`${name}: taking messages`, () => {
    it(
      "gives what came before a step, each message once, in order",
      onBench(async (bench) => {
        const engine = bench.engine();
        const other = bench.engine();
        const gate = createGate();
        engine.define("agent", async (context) => {
          await context.step("gate", () => gate.opened.then(() => null));
          const first = await context.take("t", "one");
          await context.step("one", async () => {
            await left(other, "c");
            await left(other, "a");
            return null;
          });
          return completed([first, await context.take("t", "two"), await context.take("t", "x")]);
        });
        await engine.submit("agent", null, RUN);
        await left(engine, "a");
        await left(other, "b");
        await left(engine, "another", "b");
        await engine.signal("run_1", "u", { body: "of another topic", key: "1" });
        gate.open();
        const { result } = await engine.result("run_1");
        assert.deepEqual(result, [["a", "b"], ["c"], []]);
      }),
    );

    it(
      "gives the same again after a crash between the look and its step",
      onBench(async (bench) => {
        const gate = createGate();
        const hangs = createGate();
        const define = (engine: Engine, step: () => Promise<null>): void =>
          engine.define("agent", async (context) => {
            await context.step("zero", () => gate.opened.then(() => null));
            const found = await context.take("t", "one");
            await context.step("one", step);
            return completed([found, await context.take("t", "two")]);
          });
        const first = bench.engine();
        define(first, () => hangs.opened.then(() => null));
        await first.submit("agent", null, RUN);
        await left(first, "before");
        gate.open();
        await settle();
        first.crash();
        const second = bench.engine();
        await left(second, "meanwhile");
        define(second, async () => null);
        await second.resume("run_1");
        const { result } = await second.result("run_1");
        assert.deepEqual(result, [["before"], ["meanwhile"]]);
      }),
    );

    it(
      "gives a step that was made without it nothing that came later",
      onBench(async (bench) => {
        const hangs = createGate();
        const define = (engine: Engine, last: () => Promise<null>): void =>
          engine.define("agent", async (context) => {
            const found: (readonly Json[])[] = [];
            for (const key of ["one", "two"]) {
              found.push(await context.take("t", key));
              await context.step(key, async () => null);
            }
            await context.step("last", last);
            return completed([...found, await context.take("t", "end")] as Json);
          });
        const first = bench.engine();
        define(first, () => hangs.opened.then(() => null));
        await first.submit("agent", null, RUN);
        await settle();
        first.crash();
        const second = bench.engine();
        await left(second, "late");
        define(second, async () => null);
        await second.resume("run_1");
        assert.deepEqual((await second.result("run_1")).result, [[], [], ["late"]]);
      }),
    );

    it(
      "takes nothing for an earlier owner",
      onBench(async (bench) => {
        const gate = createGate();
        const define = (engine: Engine, hold: () => Promise<void>): void =>
          engine.define("agent", async (context: RunContext) => {
            await hold();
            return completed([...(await context.take("t", "one"))]);
          });
        const zombie = bench.engine();
        const heir = bench.engine();
        define(zombie, () => gate.opened);
        define(heir, async () => {});
        await zombie.submit("agent", null, RUN);
        await left(zombie, "a");
        await heir.resume("run_1");
        gate.open();
        assert.deepEqual((await heir.result("run_1")).result, ["a"]);
      }),
    );

    it(
      "looks once before a step",
      onBench(async (bench) => {
        const engine = bench.engine();
        engine.define("agent", async (context) => {
          await context.take("t", "one");
          await context.take("t", "one");
          return completed(null);
        });
        await engine.submit("agent", null, RUN);
        const [end] = (await engine.result("run_1")).events;
        assert.ok(end?.type === "run_end" && end.error?.code === "internal");
        assert.match(end.message, /takes `t` twice before `one`/);
      }),
    );
  });
}
