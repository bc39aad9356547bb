import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIds } from "../../../src/base/ids.ts";
import {
  createConversation,
  deleteConversation,
  getConversation,
  updateConversation,
} from "../../../src/responses/conversations/conversations.ts";
import {
  appendItems,
  createItems,
  deleteItem,
  getItem,
  listItems,
  readItems,
} from "../../../src/responses/conversations/items.ts";
import type { ItemParts } from "../../../src/responses/conversations/new-items.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import { checkPublished } from "../../conformance/check.ts";

const NOW_MS = 1_790_000_000_999;

function createParts(more: Partial<ItemParts> = {}): ItemParts {
  const clock = createManualClock(NOW_MS);
  const sealKey = new Uint8Array(32);
  return { shelf: createMemoryShelf(), clock, makeId: createIds(clock), sealKey, ...more };
}

const none = new URLSearchParams();
const say = (text: string, id?: string) => ({
  ...({ type: "message", role: "user", content: text } as const),
  ...(id === undefined ? {} : { id }),
});

describe("conversations", () => {
  it("are created, shown, changed and deleted as published", async () => {
    const parts = createParts();
    const made = await createConversation(parts, "t", { metadata: { topic: "a" } });
    checkPublished("ConversationResource", made);
    assert.match(made.id, /^conv_/);
    const { id } = made;
    const expected = { id, object: "conversation", created_at: 1_790_000_000 };
    assert.deepEqual(made, { ...expected, metadata: { topic: "a" } });
    assert.deepEqual(await getConversation(parts, "t", id), made);
    const changed = await updateConversation(parts, "t", id, { metadata: { kind: "b" } });
    assert.deepEqual(changed, { ...expected, metadata: { kind: "b" } });
    assert.deepEqual(await getConversation(parts, "t", id), changed);
    const cleared = await updateConversation(parts, "t", id, { metadata: null });
    assert.deepEqual(cleared.metadata, {});
    const deleted = await deleteConversation(parts, "t", id);
    checkPublished("DeletedConversationResource", deleted);
    assert.deepEqual(deleted, { id, object: "conversation.deleted", deleted: true });
    await assert.rejects(getConversation(parts, "t", id), { code: "not_found" });
    await assert.rejects(deleteConversation(parts, "t", id), { code: "not_found" });
  });

  it("need nothing to begin with, and take items", async () => {
    const parts = createParts();
    for (const body of [undefined, {}, { items: null, metadata: null }, { items: [] }]) {
      assert.deepEqual((await createConversation(parts, "t", body)).metadata, {});
    }
    const items = [say("one"), { role: "user", content: "two" }];
    const { id } = await createConversation(parts, "t", { items });
    assert.equal((await readItems(parts, "t", id)).items.length, 2);
  });

  it("refuse what is wrong by name, and are not made then", async () => {
    const parts = createParts();
    const twenty = Array.from({ length: 20 }, () => say("x"));
    const cases: [unknown, string | undefined][] = [
      ["text", undefined],
      [{ metadata: { a: 1 } }, "metadata.a"],
      [{ metadata: { ["k".repeat(65)]: "v" } }, "metadata"],
      [{ metadata: { a: "v".repeat(513) } }, "metadata.a"],
      [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, ""])) }, "metadata"],
      [{ items: "text" }, "items"],
      [{ items: [...twenty, say("x")] }, "items"],
      [
        { items: [say("x"), { type: "function_call", name: "f", arguments: "" }] },
        "items[1].call_id",
      ],
      [{ items: [say("x", "msg_1"), say("y", "msg_1")] }, "items[1].id"],
      [{ items: [{ type: "compaction_trigger" }] }, "items[0].id"],
    ];
    for (const [body, param] of cases) {
      const refused = { code: "invalid_request", param };
      await assert.rejects(createConversation(parts, "t", body), refused, JSON.stringify(body));
    }
    const kept = { tenant: "t", kind: "conversation", order: "oldest", limit: 1 } as const;
    assert.deepEqual(await parts.shelf.list(kept), []);
    await createConversation(parts, "t", { items: twenty });
  });

  it("are not there for another tenant, whatever is asked", async () => {
    const parts = createParts();
    const items = [say("secret", "msg_1")];
    const { id } = await createConversation(parts, "t", { items });
    const place = { conversationId: id, itemId: "msg_1" };
    const asked = { conversationId: id, query: none };
    const unknown = { code: "not_found", param: "conversation_id" };
    for (const attempt of [
      () => getConversation(parts, "u", id),
      () => updateConversation(parts, "u", id, { metadata: { a: "b" } }),
      () => deleteConversation(parts, "u", id),
      () => createItems(parts, "u", asked, { items }),
      () => listItems(parts, "u", asked),
      () => getItem(parts, "u", place, none),
      () => deleteItem(parts, "u", place),
      () => appendItems(parts, "u", id, [say("x")]),
      () => readItems(parts, "u", id),
    ]) {
      await assert.rejects(attempt(), unknown);
    }
    assert.deepEqual((await getConversation(parts, "t", id)).metadata, {});
    assert.equal((await readItems(parts, "t", id)).items.length, 1);
  });

  it("take their items along when they go", async () => {
    const parts = createParts();
    const { id } = await createConversation(parts, "t", { items: [say("x", "msg_1")] });
    await deleteConversation(parts, "t", id);
    const name = { tenant: "t", kind: "conversation_item", id: `${id}/msg_1` };
    assert.equal(await parts.shelf.get(name), undefined);
  });
});
