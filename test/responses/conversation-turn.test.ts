import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createIds } from "../../src/base/ids.ts";
import { withConversation } from "../../src/responses/conversation-turn.ts";
import { createConversation } from "../../src/responses/conversations/conversations.ts";
import type { ItemParts } from "../../src/responses/conversations/new-items.ts";
import { createMemoryShelf } from "../../src/store/memory-shelf.ts";

/** A clock that is moved by hand, and whose sleepers wake at the next turn of the loop. */
function createParts(): { parts: ItemParts; clock: { ms: number } } {
  const clock = { ms: 0 };
  const time = { now: () => clock.ms, sleep: async () => void (await setImmediate()) };
  const kept = { shelf: createMemoryShelf(), clock: time, makeId: createIds() };
  return { clock, parts: { ...kept, sealKey: new Uint8Array(32) } };
}

async function pass(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
}

describe("a turn at a conversation", () => {
  it("is one at a time, and nothing of it is left", async () => {
    const { parts } = createParts();
    const made = await createConversation(parts, "t", { metadata: { a: "1" } });
    const said: string[] = [];
    let release = (): void => {};
    const first = withConversation(parts, "t", made.id, async () => {
      said.push("first");
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await pass();
    const second = withConversation(parts, "t", made.id, async () => {
      said.push("second");
    });
    await pass();
    assert.deepEqual(said, ["first"]);
    release();
    await Promise.all([first, second]);
    assert.deepEqual(said, ["first", "second"]);
    const kept = await parts.shelf.get({ tenant: "t", kind: "conversation", id: made.id });
    assert.deepEqual(kept?.body, { metadata: { a: "1" } });
  });

  it("is given back by one that failed, and taken from one that died", async () => {
    const { parts, clock } = createParts();
    const { id } = await createConversation(parts, "t", {});
    const failing = withConversation(parts, "t", id, () => Promise.reject(new Error("Broken.")));
    await assert.rejects(failing, /Broken/);
    const dead = withConversation(parts, "t", id, () => new Promise<void>(() => {}));
    void dead;
    await pass();
    clock.ms += 11_000;
    assert.equal(await withConversation(parts, "t", id, async () => "mine"), "mine");
  });

  it("is not to be had where there is no such conversation", async () => {
    const { parts } = createParts();
    const none = withConversation(parts, "t", "conv_1", async () => {});
    await assert.rejects(none, { code: "not_found" });
  });
});
