import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../../src/base/json.ts";
import type { RunContext } from "../../../src/engine/engine.ts";
import { enterBackground } from "../../../src/responses/run/background-queue.ts";
import { createManualClock } from "../../../src/testing/index.ts";

/** What a response does whose key has no place at its first two tries. */
async function enter(journal: Readonly<Record<string, Json>>): Promise<string[]> {
  const done: string[] = [];
  const clock = createManualClock();
  const context: Pick<RunContext, "signal" | "recall" | "giveTurnBack" | "turn"> = {
    signal: new AbortController().signal,
    recall: (key) => journal[key],
    giveTurnBack: async () => void done.push("gives its turn back"),
    turn: async () => void done.push("has its turn"),
  };
  let tries = 0;
  const enterPlace = async () => (++tries > 2 ? () => {} : undefined);
  const wish = { tenant: "t", key_id: "k" };
  const entered = enterBackground({ clock, enterPlace }, { context: context as RunContext, wish });
  while (tries < 3) await clock.advance(250);
  await entered;
  return done;
}

describe("a background response whose key has no place", () => {
  it("gives its turn to others while it waits", async () => {
    assert.deepEqual(await enter({ start: null }), ["gives its turn back", "has its turn"]);
  });

  it("keeps its turn if an earlier process has begun it", async () => {
    assert.deepEqual(await enter({ start: null, begin: {} }), ["has its turn"]);
  });
});
