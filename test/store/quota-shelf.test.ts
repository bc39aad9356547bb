import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { createMemoryShelf } from "../../src/store/memory/memory-shelf.ts";
import { limitShelf } from "../../src/store/quota-shelf.ts";
import type { Shelf } from "../../src/store/shelf.ts";
import { countTurns } from "../base/count-turns.ts";
import { describeExpiry } from "./expiry-contract.ts";
import { describeShelf, nameOf, newThing, streamOf } from "./shelf-contract.ts";
import { describeStorage } from "./storage-contract.ts";
import { describeUnder } from "./under-contract.ts";

const FULL = {
  code: "too_large",
  message: /^This key's tenant may store 1000 bytes, and stores \d+\. Delete something first/,
};

function open(quota: number | undefined): Shelf {
  return limitShelf(createMemoryShelf(), async () => quota);
}

describeShelf("a shelf with a quota", async () => open(100_000_000));
describeExpiry("a shelf with a quota", async () => open(100_000_000));
describeUnder("a shelf with a quota", async () => open(100_000_000));
describeStorage("a shelf with a quota", async () => open(100_000_000));

describe("a shelf with a quota", () => {
  it("accepts what there is room for, and more when something was deleted", async () => {
    const shelf = open(1000);
    const file = (id: string, length: number) =>
      newThing(id, { kind: "file", body: "x".repeat(length - 2) });
    await shelf.put(file("a", 600));
    await assert.rejects(shelf.put(file("b", 401)), FULL);
    await shelf.put(file("b", 400));
    await assert.rejects(shelf.put(file("c", 2)), FULL);
    await shelf.delete(nameOf("a", { kind: "file" }));
    await shelf.put(file("c", 600));
    await shelf.put({ ...file("c", 600), tenant: "other" });
  });

  it("accepts no bytes beyond it, and keeps none of them", async () => {
    const shelf = open(1000);
    const name = nameOf("f", { kind: "file" });
    await shelf.put(newThing("f", { kind: "file", body: "" }));
    const parts = [Buffer.alloc(500), Buffer.alloc(500)];
    await assert.rejects(shelf.writeContent(name, streamOf(...parts)), FULL);
    assert.equal(await shelf.countBytes("tenant"), 2);
    assert.equal(await shelf.writeContent(name, streamOf(Buffer.alloc(998))), 998);
  });

  it("ends an upload that is far too large in the middle of it", async () => {
    const shelf = open(1000);
    await shelf.put(newThing("f", { kind: "file", body: "" }));
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        sent += 65_536;
        yield Buffer.alloc(65_536);
      }
    }
    await assert.rejects(shelf.writeContent(nameOf("f", { kind: "file" }), endless()), FULL);
    assert.ok(sent <= 1_048_576, String(sent));
  });

  it("accepts what belongs to something that is stored already", async () => {
    const shelf = open(10);
    const item = newThing("i", { kind: "conversation_item", body: "more than ten bytes" });
    await shelf.putAll([item]);
    await shelf.put({ ...item, id: "j" });
    await assert.rejects(shelf.checkRoom("tenant", {}), { code: "too_large" });
  });

  it("measures a large body in many turns of the event loop, to the byte", async () => {
    const body = ["Grüße\n".repeat(1_000_000)];
    const bytes = Buffer.byteLength(JSON.stringify(body));
    const thing = newThing("r", { kind: "response", body });
    const refused = await countTurns(async () => {
      await assert.rejects(open(bytes - 1).put(thing), { code: "too_large" });
    });
    assert.ok(refused.turns >= 4, `${refused.turns} turns`);
    assert.equal(await open(bytes).put(thing), true);
  });

  it("does not measure a large body that fits in any case", async () => {
    const unwritten = {
      text: "x".repeat(300_000),
      toJSON(): never {
        throw new Error("written");
      },
    };
    await open(100_000_000).checkRoom("tenant", unwritten as unknown as Json);
  });

  it("counts nothing without a quota", async (t) => {
    const inner = createMemoryShelf();
    const { mock } = t.mock.method(inner, "countBytes");
    const shelf = limitShelf(inner, async () => undefined);
    await shelf.put(newThing("f", { kind: "file" }));
    await shelf.writeContent(nameOf("f", { kind: "file" }), streamOf(Buffer.alloc(10)));
    await shelf.checkRoom("tenant", {});
    assert.equal(mock.callCount(), 0);
  });
});
