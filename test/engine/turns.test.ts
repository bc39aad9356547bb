import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTurns } from "../../src/engine/turns.ts";
import type { Store } from "../../src/store/store.ts";
import type { TakenTurn } from "../../src/store/turns.ts";
import { createGate, until } from "./engine-bench.ts";

describe("the queues of a process", () => {
  it("are looked at again where room came while they were looked at", async () => {
    const launched: string[] = [];
    const looks = [createGate(), createGate()];
    let [look, hasRoom] = [0, false];
    const store = {
      countWaiting: async () => (launched.length === 0 ? 1 : 0),
      async takeTurn(): Promise<TakenTurn | undefined> {
        // The room as it was when the question came to the store.
        const found = hasRoom ? { id: "run_1", epoch: 2 } : undefined;
        await looks[look++]?.opened;
        return found;
      },
    } as unknown as Store;
    const turns = createTurns({
      ...{ store, owner: "worker", journal: 1, beat: async () => {} },
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
});
