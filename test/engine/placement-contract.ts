/** What every `Engine` must do with runs that are left to any process with room. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Engine, QueuedPlace } from "../../src/engine/engine.ts";
import { aborted } from "./engine-contract.ts";
import {
  type Bench,
  completed,
  createGate,
  type Faults,
  type OpenBench,
  onBenches,
  turnUntil,
  until,
} from "./engine-fixture.ts";

const RUN = { id: "run_1", title: "a run" };
const QUEUE: QueuedPlace = {
  name: "children",
  lane: "",
  maxWaiting: 1000,
  placement: "queue",
  toFull: () => new Error("full"),
};
const EVERYWHERE = Number.MAX_SAFE_INTEGER;

interface Placed {
  /** Which process runs which child. */
  readonly where: Map<string, string>;
  /** An engine that works on so many of the queue at once. */
  open(name: string, here: number, faults?: Faults): ReturnType<Bench["engine"]>;
  end(): void;
}

/** A parent that leaves six children to others, and waits for all of them. */
function createPlaced(bench: Bench): Placed {
  const where = new Map<string, string>();
  const gate = createGate();
  const gone = new Set<string>();
  const define = (engine: Engine, name: string, here: number): void => {
    engine.defineQueue("children", { atOnce: EVERYWHERE, here });
    engine.define("child", async (context) => {
      where.set(context.id, name);
      await Promise.race([gate.opened, aborted(context)]);
      return completed(name);
    });
    engine.define("parent", async (context) => {
      const keys = ["a", "b", "c", "d", "e", "f"];
      const children = await Promise.all(
        keys.map((key) => context.child(key, "child", null, { queue: QUEUE, timeoutMs: 60_000 })),
      );
      const ended = await Promise.all(children.map((child) => child.result()));
      return completed(ended.map(({ ending }) => ending));
    });
  };
  return {
    where,
    open(name, here, faults) {
      const engine = bench.engine({ workerId: name, isAlive: ({ id }) => !gone.has(id), faults });
      define(engine, name, here);
      const { crash } = engine;
      return Object.assign(engine, {
        crash() {
          gone.add(name);
          crash();
        },
      });
    },
    end: () => gate.open(),
  };
}

export function describePlacement(name: string, openBench: OpenBench): void {
  const onBench = onBenches(openBench);

  describe(`${name}: children that are left to others`, () => {
    it(
      "run where there is room, and their parent gets their endings",
      onBench(async (bench) => {
        const placed = createPlaced(bench);
        const parent = placed.open("parent", 0);
        const others = [placed.open("one", 2), placed.open("two", 4)];
        await parent.submit("parent", null, RUN);
        await until(async () => (await parent.countWaiting("children")) === 6);
        assert.equal(placed.where.size, 0, "no engine has looked yet");
        for (const other of others) await other.start();
        await until(() => placed.where.size === 6);
        const counts = ["one", "two", "parent"].map(
          (at) => [...placed.where.values()].filter((where) => where === at).length,
        );
        assert.deepEqual(counts, [2, 4, 0]);
        const status = await parent.status("run_1/a");
        assert.deepEqual([status?.parent_id, status?.path], ["run_1", "/root/a"]);
        placed.end();
        for (const id of placed.where.keys()) {
          await until(async () => (await parent.status(id))?.status === "ended");
        }
        const { result } = await turnUntil(bench, parent.result(RUN.id));
        assert.deepEqual(result, Array(6).fill("completed"));
      }),
    );

    it(
      "are cancelled with their parent, those that run elsewhere and those that wait",
      onBench(async (bench) => {
        const placed = createPlaced(bench);
        const parent = placed.open("parent", 0);
        const other = placed.open("one", 2);
        await parent.submit("parent", null, RUN);
        await until(async () => (await parent.countWaiting("children")) === 6);
        await other.start();
        await until(() => placed.where.size === 2);
        const cancelled = parent.cancel("run_1", { tree: true });
        let isOver = false;
        const over = parent.result("run_1").then((outcome) => {
          isOver = true;
          return outcome;
        });
        await until(() => {
          bench.clock.advance(250);
          return isOver;
        });
        await cancelled;
        assert.equal((await over).ending, "cancelled");
        for (const key of ["a", "b", "c", "d", "e", "f"]) {
          const run = await bench.record.getRun(`run_1/${key}`);
          assert.deepEqual([run?.status, run?.ending], ["ended", "cancelled"], key);
        }
        assert.equal(await parent.countWaiting("children"), 0);
      }),
    );

    it(
      "may have begun elsewhere before their parent knows that it has left them",
      onBench(async (bench) => {
        const placed = createPlaced(bench);
        const other = placed.open("one", 6);
        const losesPlaces = async (): Promise<void> => void (await other.start());
        const parent = placed.open("parent", 0, { losesPlaces });
        await parent.submit("parent", null, RUN);
        await until(() => placed.where.size === 6);
        placed.end();
        const { result } = await turnUntil(bench, parent.result(RUN.id));
        assert.deepEqual(result, Array(6).fill("completed"));
      }),
    );

    it(
      "wait for a process with room also if that of their parent dies while it leaves them",
      onBench(async (bench) => {
        const placed = createPlaced(bench);
        let hasCrashed = false;
        const crash = (method: string): undefined => {
          if (method !== "createQueued") return;
          first.crash();
          hasCrashed = true;
        };
        const first = placed.open("first", 0, { loseAnswer: crash });
        const next = placed.open("next", 0);
        void first.submit("parent", null, RUN).catch(() => {});
        await until(() => hasCrashed);
        await next.start();
        await until(async () => (await next.countWaiting("children")) === 6);
        assert.equal(placed.where.size, 0, "none of them runs where there is no room");
        const other = placed.open("one", 6);
        await other.start();
        await until(() => placed.where.size === 6);
        assert.deepEqual(new Set(placed.where.values()), new Set(["one"]));
        placed.end();
        const { result } = await turnUntil(bench, next.result(RUN.id));
        assert.deepEqual(result, Array(6).fill("completed"));
      }),
    );

    it(
      "are ended by their parent, which hears their endings although it was cancelled itself",
      onBench(async (bench) => {
        const placed = createPlaced(bench);
        const parent = placed.open("parent", 0);
        const other = placed.open("one", 2);
        const endings: string[] = [];
        parent.define("ending", async (context) => {
          const keys = ["a", "b", "c"];
          const children = await Promise.all(
            keys.map((key) => context.child(key, "child", null, { queue: QUEUE })),
          );
          await aborted(context).catch(() => {});
          for (const child of children) endings.push((await child.end()).ending);
          return completed(null);
        });
        await parent.submit("ending", null, RUN);
        await until(async () => (await parent.countWaiting("children")) === 3);
        await other.start();
        await until(() => placed.where.size === 2);
        const cancelled = parent.cancel("run_1", { tree: false });
        await until(() => {
          bench.clock.advance(250);
          return endings.length === 3;
        });
        await cancelled;
        assert.deepEqual(endings, Array(3).fill("cancelled"));
      }),
    );

    it(
      "are taken over by their parent when the process that ran them is gone",
      onBench(async (bench) => {
        const placed = createPlaced(bench);
        const parent = placed.open("parent", 0);
        const dead = placed.open("other", 6);
        await parent.submit("parent", null, RUN);
        await until(async () => (await parent.countWaiting("children")) === 6);
        await dead.start();
        await until(() => placed.where.size === 6);
        dead.crash();
        placed.where.clear();
        await until(() => {
          bench.clock.advance(250);
          return placed.where.size === 6;
        });
        placed.end();
        const { result } = await turnUntil(bench, parent.result(RUN.id));
        assert.deepEqual(result, Array(6).fill("completed"));
        assert.deepEqual(new Set(placed.where.values()), new Set(["parent"]));
      }),
    );
  });
}
