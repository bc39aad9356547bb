import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { OwnedRun } from "../../src/engine/owned-run.ts";
import { createTurns } from "../../src/engine/turns.ts";
import type { Store } from "../../src/store/store.ts";
import type { QueuePlace, TakenTurn } from "../../src/store/turns.ts";
import { createGate, until } from "./engine-fixture.ts";

describe("the queues of a process", () => {
  it("are searched again if room came during the search", async () => {
    const launched: string[] = [];
    const looks = [createGate(), createGate()];
    let look = 0;
    let hasRoom = false;
    const store = {
      countWaiting: async () => (launched.length === 0 ? 1 : 0),
      async takeTurn(): Promise<TakenTurn | undefined> {
        // The room at the moment when the query reached the store.
        const found = hasRoom ? { id: "run_1", epoch: 2 } : undefined;
        await looks[look++]?.opened;
        return found;
      },
    } as unknown as Store;
    const turns = createTurns({
      store,
      owner: "worker",
      journal: 1,
      beat: async () => {},
      launch: async ({ id }) => launched.push(id),
    });
    turns.define("q", { atOnce: 1 });
    const first = turns.take();
    await until(() => look === 1);
    hasRoom = true;
    const second = turns.take();
    for (const gate of looks) gate.open();
    await Promise.all([first, second]);
    assert.deepEqual(launched, ["run_1"]);
  });

  it("have no room for a run of this process while the last one is being taken", async () => {
    const taking = createGate();
    const places: number[] = [];
    let isTaking = false;
    const store = {
      countWaiting: async () => 1,
      async takeTurn(): Promise<TakenTurn | undefined> {
        isTaking = true;
        await taking.opened;
        return { id: "run_1", epoch: 2 };
      },
      async awaitTurn(_id: string, _epoch: number, { atOnce }: QueuePlace): Promise<boolean> {
        places.push(atOnce);
        return atOnce > 0;
      },
    } as unknown as Store;
    const turns = createTurns({
      store,
      owner: "worker",
      journal: 1,
      beat: async () => {},
      launch: async () => {},
    });
    turns.define("q", { atOnce: 5, here: 1 });
    const taken = turns.take();
    await until(() => isTaking);
    const owned = {
      run: { id: "run_2" },
      epoch: 1,
      log: { settled: async () => {} },
      write: (work: () => Promise<boolean>) => work(),
      lose() {},
    } as unknown as OwnedRun;
    await assert.rejects(turns.enter(owned, "q", "lane"), { code: "fenced" });
    taking.open();
    await taken;
    assert.deepEqual(places, [0]);
  });

  it("have room again where a run that was taken could not be begun", async () => {
    const launched: string[] = [];
    let epoch = 1;
    const store = {
      countWaiting: async () => (launched.length === 0 ? 1 : 0),
      takeTurn: async (): Promise<TakenTurn> => ({ id: `run_${epoch}`, epoch: ++epoch }),
    } as unknown as Store;
    const turns = createTurns({
      store,
      owner: "worker",
      journal: 1,
      beat: async () => {},
      async launch({ id }) {
        if (id === "run_1") throw new Failure("store_busy", "The store does not answer.");
        launched.push(id);
      },
    });
    turns.define("q", { atOnce: 2, here: 1 });
    await assert.rejects(turns.take(), { code: "store_busy" });
    await turns.take();
    assert.deepEqual(launched, ["run_2"]);
  });
});
