import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIds } from "../../../src/base/ids.ts";
import type { Item } from "../../../src/protocol/items.ts";
import {
  createConversation,
  deleteConversation,
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
import { unsealTools } from "../../../src/responses/request/seal-tools.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import { checkPublished } from "../../conformance/check.ts";

interface Open {
  readonly parts: ItemParts;
  readonly id: string;
}

async function openConversation(more: Partial<ItemParts> = {}): Promise<Open> {
  const clock = createManualClock(1000);
  const sealKey = new Uint8Array(32);
  const parts = { shelf: createMemoryShelf(), clock, makeId: createIds(clock), sealKey, ...more };
  const { id } = await createConversation(parts, "t", {});
  return { parts, id };
}

const say = (text: string, id?: string): Item => ({
  type: "message",
  role: "user",
  content: text,
  id,
});
const call = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" } as const;

const create = (
  { parts, id }: Open,
  items: readonly unknown[],
  query = "",
): ReturnType<typeof createItems> =>
  createItems(parts, "t", { conversationId: id, query: new URLSearchParams(query) }, { items });

const list = ({ parts, id }: Open, query = ""): ReturnType<typeof listItems> =>
  listItems(parts, "t", { conversationId: id, query: new URLSearchParams(query) });

const textsOf = (items: readonly unknown[]): unknown[] =>
  (items as { content: unknown }[]).map(({ content }) =>
    typeof content === "string" ? content : (content as { text: string }[])[0]?.text,
  );

describe("two requests that add items at once", () => {
  it("are refused if they add different items under one id, the later one", async () => {
    const open = await openConversation();
    const { shelf } = open.parts;
    const { putUnder } = shelf;
    shelf.putUnder = async (...given) => {
      shelf.putUnder = putUnder;
      // Both were checked before either has added anything.
      await create(open, [say("first", "msg_a")]);
      return await putUnder.apply(shelf, given);
    };
    const later = create(open, [say("second", "msg_a")]);
    await assert.rejects(later, { code: "invalid_request", param: "items[0].id" });
    assert.deepEqual(textsOf((await list(open)).data), ["first"]);
    shelf.putUnder = async (...given) => {
      shelf.putUnder = putUnder;
      await create(open, [say("same", "msg_b")]);
      return await putUnder.apply(shelf, given);
    };
    await create(open, [say("same", "msg_b")]);
    assert.deepEqual(textsOf((await list(open)).data), ["same", "first"]);
  });
});

describe("secrets in items of a conversation", () => {
  const secrets = { authorization: "hush-1", headers: { "x-key": "hush-2" } };
  const mcp = { type: "mcp", server_label: "a", server_url: "https://a.example.org", ...secrets };
  const items = [
    { type: "additional_tools", role: "developer", id: "at_1", tools: [mcp] },
    { type: "tool_search_output", id: "tso_1", call_id: "c", tools: [mcp] },
    { type: "mcp_list_tools", id: "mcpl_1", server_label: "a", tools: [], ...secrets },
  ];

  it("are stored sealed, and never shown", async () => {
    const open = await openConversation();
    const made = await create(open, items);
    const thing = await listAll(open);
    const got = await getItem(
      open.parts,
      "t",
      { conversationId: open.id, itemId: "at_1" },
      new URLSearchParams(),
    );
    for (const seen of [made, thing, await list(open), got]) {
      assert.doesNotMatch(JSON.stringify(seen), /hush/);
    }
    for (const shown of [made, await list(open), got]) {
      assert.doesNotMatch(JSON.stringify(shown), /offshoot_sealed/);
    }
    const [kept] = (await readItems(open.parts, "t", open.id)).items;
    assert.ok(kept?.type === "additional_tools");
    assert.deepEqual(unsealTools(kept.tools, open.parts.sealKey), [mcp]);
  });

  it("are the same when the items are sent again, and others are other items", async () => {
    const open = await openConversation();
    await create(open, items);
    await create(open, items);
    assert.equal((await list(open)).data.length, 3);
    const other = { ...items[0], tools: [{ ...mcp, authorization: "another" }] };
    await assert.rejects(create(open, [other]), { code: "invalid_request" });
  });

  it("are sealed in items that a conversation is made with", async () => {
    const { parts } = await openConversation();
    const { id } = await createConversation(parts, "t", { items });
    assert.doesNotMatch(JSON.stringify(await listAll({ parts, id })), /hush/);
  });
});

/** As they are stored on the shelf. */
async function listAll({ parts, id }: Open): Promise<unknown> {
  const among = { tenant: "t", kind: "conversation_item", parent: id, order: "oldest" as const };
  return await parts.shelf.list({ ...among, limit: 100 });
}

describe("items of a conversation", () => {
  it("keep the client's id, or get one with the prefix of their kind", async () => {
    const open = await openConversation();
    const made = await create(open, [
      say("a", "my-own"),
      say("b"),
      call,
      { role: "user", content: "c" },
    ]);
    checkPublished("ConversationItemList", made);
    const [first, second, third, fourth] = made.data.map((item) => item.id);
    assert.equal(first, "my-own");
    for (const [id = "", prefix] of [
      [second, "msg_"],
      [third, "fc_"],
      [fourth, "msg_"],
    ] as const) {
      assert.ok(id.startsWith(prefix), id);
    }
    assert.deepEqual([made.first_id, made.last_id, made.has_more], [first, fourth, false]);
    assert.deepEqual((await list(open, "order=asc")).data, made.data);
  });

  it("are listed newest first, a page at a time", async () => {
    const open = await openConversation();
    for (const from of [0, 20]) {
      await create(
        open,
        Array.from({ length: 20 }, (_, n) => say(`${from + n}`, `m${from + n}`)),
      );
    }
    const page = await list(open);
    checkPublished("ConversationItemList", page);
    assert.deepEqual([page.first_id, page.last_id, page.has_more], ["m39", "m20", true]);
    const rest = await list(open, `after=${page.last_id}&limit=100`);
    assert.deepEqual([rest.first_id, rest.last_id, rest.has_more], ["m19", "m0", false]);
    const back = await list(open, `before=m10&limit=5`);
    assert.deepEqual([back.first_id, back.last_id, back.has_more], ["m15", "m11", true]);
    assert.deepEqual((await list(open, "order=asc&limit=2")).last_id, "m1");
    assert.deepEqual((await list(open, "after=unknown")).data, []);
    checkPublished("ConversationItemList", await list(open, "after=unknown"));
    await assert.rejects(list(open, "limit=0"), { code: "invalid_request", param: "limit" });
  });

  it("are shown and deleted one by one", async () => {
    const open = await openConversation();
    const { parts, id: conversationId } = open;
    await create(open, [say("a", "a"), say("b", "b/c")]);
    const place = { conversationId, itemId: "b/c" };
    const shown = await getItem(parts, "t", place, new URLSearchParams());
    checkPublished("ConversationItem", shown);
    assert.deepEqual(textsOf([shown]), ["b"]);
    const left = await deleteItem(parts, "t", place);
    checkPublished("ConversationResource", left);
    assert.equal(left.id, conversationId);
    const unknown = { code: "not_found", param: "item_id" };
    await assert.rejects(getItem(parts, "t", place, new URLSearchParams()), unknown);
    await assert.rejects(deleteItem(parts, "t", place), unknown);
    assert.deepEqual(
      (await list(open)).data.map(({ id }) => id),
      ["a"],
    );
  });

  it("may be in two conversations of a tenant under the same id", async () => {
    const open = await openConversation();
    const other = { ...open, id: (await createConversation(open.parts, "t", {})).id };
    await create(open, [say("one", "m")]);
    await create(other, [say("two", "m")]);
    assert.deepEqual(textsOf((await list(open)).data), ["one"]);
    assert.deepEqual(textsOf((await list(other)).data), ["two"]);
    await deleteConversation(open.parts, "t", open.id);
    assert.deepEqual(textsOf((await list(other)).data), ["two"]);
  });

  it("may be sent again, but not changed under their id", async () => {
    const open = await openConversation();
    await create(open, [say("a", "m")]);
    assert.equal((await create(open, [say("b", "n"), say("a", "m")])).data.length, 2);
    const refused = { code: "invalid_request", param: "items[0].id" };
    await assert.rejects(create(open, [say("other", "m")]), refused);
    assert.deepEqual(textsOf((await list(open, "order=asc")).data), ["a", "b"]);
  });

  it("are refused by name where they are wrong, all or none", async () => {
    const open = await openConversation();
    for (const [body, param] of [
      [{}, "items"],
      [{ items: Array.from({ length: 21 }, () => say("x")) }, "items"],
      [{ items: [say("x"), { ...call, call_id: 1 }] }, "items[1].call_id"],
      [{ items: [say("x"), { id: "msg_gone" }] }, "items[1]"],
    ] as const) {
      const asked = { conversationId: open.id, query: new URLSearchParams() };
      await assert.rejects(createItems(open.parts, "t", asked, body), { param });
    }
    assert.deepEqual((await list(open)).data, []);
  });

  it("can be named by reference", async () => {
    const findItem: ItemParts["findItem"] = async (tenant, id) =>
      tenant === "t" && id === "msg_1" ? say("known") : undefined;
    const open = await openConversation({ findItem });
    const made = await create(open, [{ type: "item_reference", id: "msg_1" }]);
    assert.deepEqual([made.first_id, ...textsOf(made.data)], ["msg_1", "known"]);
    const unknown = { code: "not_found", param: "items[0]" };
    await assert.rejects(create(open, [{ id: "msg_2" }]), unknown);
  });

  it("show some fields only when they are asked for", async () => {
    const open = await openConversation();
    const image_url = "data:image/png;base64,AA==";
    await create(open, [
      { type: "reasoning", summary: [], encrypted_content: "sealed" },
      {
        type: "code_interpreter_call",
        code: "1",
        container_id: "c",
        outputs: [{ type: "logs", logs: "1" }],
      },
      { type: "file_search_call", queries: ["q"], results: [{ file_id: "f" }] },
      { type: "message", role: "user", content: [{ type: "input_image", image_url }] },
    ]);
    const names = ["reasoning.encrypted_content", "file_search_call.results"];
    for (const query of [
      "order=asc",
      `order=asc&${names.map((name) => `include[]=${name}`).join("&")}`,
    ]) {
      const page = await list(open, query);
      checkPublished("ConversationItemList", page);
      const [thought, code, search, message] = page.data;
      const isAsked = query.includes("include");
      assert.equal(thought?.["encrypted_content"], isAsked ? "sealed" : undefined);
      assert.deepEqual(code?.["outputs"], [{ type: "logs", logs: "1" }]);
      assert.deepEqual(search?.["results"], isAsked ? [{ file_id: "f" }] : null);
      const [part] = (message?.["content"] ?? []) as { image_url: string }[];
      assert.equal(part?.image_url, image_url, "a session of an SDK sends back what it lists");
    }
  });
});

describe("items of a conversation, for runs", () => {
  it("are added once, however often the run is repeated", async () => {
    const { parts, id } = await openConversation();
    await appendItems(parts, "t", id, [say("a", "a"), say("b", "b")]);
    await appendItems(parts, "t", id, [say("a", "a"), say("b", "b"), say("c", "c"), say("c", "c")]);
    const { items } = await readItems(parts, "t", id);
    assert.deepEqual(items, [say("a", "a"), say("b", "b"), say("c", "c")]);
  });

  it("leave out what only steers a request", async () => {
    const { parts, id } = await openConversation();
    const steering: Item[] = [{ type: "item_reference", id: "m" }, { type: "compaction_trigger" }];
    await appendItems(parts, "t", id, [...steering, say("a", "a")]);
    assert.deepEqual((await readItems(parts, "t", id)).items, [say("a", "a")]);
  });

  it("are read up to where they had come", async () => {
    const { parts, id } = await openConversation();
    assert.deepEqual(await readItems(parts, "t", id), { items: [], position: 0 });
    await appendItems(parts, "t", id, [say("a", "a")]);
    const before = await readItems(parts, "t", id);
    await appendItems(parts, "t", id, [say("b", "b")]);
    assert.deepEqual(await readItems(parts, "t", id, before.position), before);
    assert.deepEqual((await readItems(parts, "t", id, 0)).items, []);
    assert.equal((await readItems(parts, "t", id)).items.length, 2);
  });

  it("are all of them read, also when one is deleted meanwhile", async () => {
    const { parts, id } = await openConversation();
    const items = Array.from({ length: 1200 }, (_, n) => say(`${n}`, `m${n}`));
    await appendItems(parts, "t", id, items);
    assert.deepEqual((await readItems(parts, "t", id)).items, items);
    let lists = 0;
    const { shelf } = parts;
    const listed = shelf.list.bind(shelf);
    shelf.list = async (query) => {
      const place = { conversationId: id, itemId: "m499" };
      if (lists++ === 1) await deleteItem(parts, "t", place);
      return listed(query);
    };
    const read = await readItems(parts, "t", id);
    assert.deepEqual(
      read.items,
      items.filter((_, n) => n !== 499),
    );
  });

  it("are refused, and leave nothing, when the conversation goes meanwhile", async () => {
    const { parts, id } = await openConversation();
    const { shelf } = parts;
    const putUnder = shelf.putUnder.bind(shelf);
    shelf.putUnder = async (parent, things) => {
      await shelf.delete({ tenant: "t", kind: "conversation", id });
      return putUnder(parent, things);
    };
    const gone = { code: "not_found" };
    await assert.rejects(appendItems(parts, "t", id, [say("a", "a")]), gone);
    const query = { tenant: "t", kind: "conversation_item", order: "oldest", limit: 9 } as const;
    assert.deepEqual(await shelf.list(query), []);
  });
});
