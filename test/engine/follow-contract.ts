/** Following a run: from any event, while it is written, slowly, and from another process. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LoggedEvent } from "../../src/protocol/run-events.ts";
import {
  type Bench,
  completed,
  createGate,
  type Gate,
  notice,
  type OpenBench,
  onBenches,
  readAll,
  settle,
  until,
} from "./engine-fixture.ts";

const RUN = { id: "run_1", title: "a run" };

export function describeFollow(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);
  /** Writes `count` events in batches of changing size, the second half after the gate opens. */
  const defineWriter = (engine: ReturnType<Bench["engine"]>, count: number, gate: Gate): void => {
    engine.define("writer", async (context) => {
      for (let first = 0, size = 1; first < count; first += size, size = (size % 7) + 1) {
        if (first >= count / 2) await gate.opened;
        await context.step(`write:${first}`, async () => {
          const batch = Array.from({ length: Math.min(size, count - first) }, (_, i) =>
            notice(`${first + i}`),
          );
          return await context.emit(batch);
        });
      }
      return completed(null);
    });
  };

  describe(`${name}: following`, () => {
    it(
      "shows a slow reader no gap if the run continued elsewhere and came back",
      onBench(async (bench) => {
        const engine = bench.engine({ workerId: "a" });
        const other = bench.engine({ workerId: "b" });
        const [begun, taken, never, last] = Array.from({ length: 4 }, createGate) as [
          Gate,
          Gate,
          Gate,
          Gate,
        ];
        /** What each owner writes, and what it waits for then. */
        const owners = [
          { says: ["0"], waits: taken.opened },
          { says: ["1", "2"], waits: never.opened },
          { says: ["3"], waits: last.opened },
        ];
        for (const one of [engine, other]) {
          one.define("moved", async (context) => {
            const { says = [], waits } = owners[context.epoch - 1] ?? {};
            await begun.opened;
            const emit = (): Promise<number> => context.emit(says.map(notice));
            await context.step(`by ${context.epoch}`, emit);
            await waits;
            await context.step(`after ${context.epoch}`, async () => null);
            return completed(null);
          });
        }
        await engine.submit("moved", null, RUN);
        const reader = engine.follow("run_1", -1);
        const first = reader.next();
        await settle();
        begun.open();
        const heard = [...((await first).value ?? [])];
        // It is not read meanwhile, in the middle of what is published here.
        await other.resume("run_1");
        await until(async () => (await bench.record.readEvents("run_1", -1, 9)).length === 3);
        taken.open();
        await engine.idle();
        other.crash();
        await engine.resume("run_1");
        await until(async () => (await bench.record.readEvents("run_1", -1, 9)).length === 4);
        await settle();
        heard.push(...((await reader.next()).value ?? []));
        last.open();
        for await (const batch of reader) heard.push(...batch);
        assert.deepEqual(
          heard.map(({ seq }) => seq),
          [0, 1, 2, 3, 4],
        );
      }),
    );

    it(
      "gives the same tail from every number, live and afterwards",
      onBench(async (bench) => {
        const engine = bench.engine();
        const gate = createGate();
        defineWriter(engine, 30, gate);
        await engine.submit("writer", null, RUN);
        const live = Array.from({ length: 33 }, (_, i) => readAll(engine, "run_1", i - 1));
        await settle();
        gate.open();
        const whole = await readAll(engine, "run_1");
        assert.deepEqual(
          whole.map(({ seq }) => seq),
          Array.from({ length: 31 }, (_, seq) => seq),
        );
        for (const [index, tail] of live.entries()) {
          assert.deepEqual(await tail, whole.slice(index), `live after ${index - 1}`);
          assert.deepEqual(await readAll(engine, "run_1", index - 1), whole.slice(index));
        }
      }),
    );

    it(
      "shows an event only when it is in the store",
      onBench(async (bench) => {
        const engine = bench.engine();
        const gate = createGate();
        gate.open();
        defineWriter(engine, 20, gate);
        const missing: number[] = [];
        await engine.submit("writer", null, RUN);
        for await (const batch of engine.follow("run_1", -1)) {
          const last = batch.at(-1)?.seq ?? -1;
          const stored = (await bench.record.getRun("run_1"))?.next_seq ?? 0;
          if (stored <= last) missing.push(last);
        }
        assert.deepEqual(missing, []);
      }),
    );

    it(
      "loses nothing for a reader slower than its buffer",
      onBench(async (bench) => {
        const engine = bench.engine();
        const gate = createGate();
        const written = createGate();
        const caughtUp = createGate();
        const total = 6000;
        engine.define("writer", async (context) => {
          await gate.opened;
          await context.step("write", async () => {
            for (let first = 0; first < total; first += 100) {
              await context.emit(Array.from({ length: 100 }, (_, i) => notice(`${first + i}`)));
            }
            written.open();
            await caughtUp.opened;
            return null;
          });
          return completed(null);
        });
        await engine.submit("writer", null, RUN);
        const seen: LoggedEvent[] = [];
        const reading = (async () => {
          for await (const batch of engine.follow("run_1", -1)) {
            seen.push(...batch);
            // Asleep while the writer fills the buffer and more.
            await written.opened;
            if (seen.length === total) caughtUp.open();
          }
        })();
        await settle();
        gate.open();
        await reading;
        assert.deepEqual(
          seen.map(({ seq }) => seq),
          Array.from({ length: total + 1 }, (_, seq) => seq),
        );
      }),
    );

    it(
      "follows a run of another process by polling",
      onBench(async (bench) => {
        const owner = bench.engine();
        const reader = bench.engine();
        const gate = createGate();
        defineWriter(owner, 30, gate);
        await owner.submit("writer", null, RUN);
        let isDone = false;
        const reading = readAll(reader, "run_1").finally(() => {
          isDone = true;
        });
        await settle();
        gate.open();
        await owner.result("run_1");
        await until(() => {
          bench.clock.advance(200);
          return isDone;
        });
        assert.equal((await reading).length, 31);
        assert.deepEqual(await reading, await readAll(owner, "run_1"));
      }),
    );

    it(
      "ends with the reader's signal and refuses an unknown run",
      onBench(async (bench) => {
        const engine = bench.engine();
        const gate = createGate();
        defineWriter(engine, 30, gate);
        await engine.submit("writer", null, RUN);
        const controller = new AbortController();
        const reading = (async () => {
          for await (const _ of engine.follow("run_1", -1, controller.signal)) await settle();
        })();
        const waiting = engine.result("run_1", controller.signal);
        await settle();
        controller.abort(new Error("gone"));
        for (const outcome of await Promise.allSettled([reading, waiting])) {
          assert.ok(outcome.status === "rejected" && outcome.reason.message === "gone");
        }
        await assert.rejects(readAll(engine, "run_x"), { code: "not_found" });
        await assert.rejects(engine.result("run_x"), { code: "not_found" });
        gate.open();
      }),
    );
  });
}
