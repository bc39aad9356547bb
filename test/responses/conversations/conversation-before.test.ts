/** The chain of responses that a request continues, as it is read from the shelf. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Engine } from "../../../src/engine/engine.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { readBefore } from "../../../src/responses/conversations/conversation-before.ts";
import { toOutputThings } from "../../../src/responses/kept/kept-output.ts";
import { toKeptThing } from "../../../src/responses/kept/kept-response.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";

const TENANT = "tenant";
const LINKS = 100;

function message(id: string): Item {
  return { type: "message", id, role: "user", content: id } as Item;
}

/** A shelf with a chain of responses, from `resp_0` on; the number of questions that it was asked. */
async function openChain() {
  const shelf = createMemoryShelf();
  for (let at = 0; at < LINKS; at++) {
    const id = `resp_${at}`;
    const previous_response_id = at === 0 ? null : `resp_${at - 1}`;
    const kept = { previous_response_id, conversation_id: null, background: false };
    const input = [message(`in_${at}`)];
    const times = { nowMs: 0, ttlMs: null };
    await shelf.put(toKeptThing({ tenant: TENANT, id, kept: { ...kept, input } }, times));
    await shelf.putAll(toOutputThings(TENANT, id, [message(`out_${at}`)], 0));
  }
  const asked = { count: 0 };
  const counted = new Proxy(shelf, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== "function") return method;
      return (...values: unknown[]) => {
        asked.count++;
        return Reflect.apply(method, target, values);
      };
    },
  });
  const readConversation = () => assert.fail("there is no conversation");
  // All inputs and outputs are on the shelf: no run is read.
  const parts = { shelf: counted, place: {} as Engine, readConversation };
  return { shelf, parts, asked };
}

const wish = { tenant: TENANT, conversation: null, previous_response_id: `resp_${LINKS - 1}` };

describe("the conversation before a response", () => {
  it("is a whole chain in its order, with few questions to the record", async () => {
    const { parts, asked } = await openChain();
    const items = await readBefore(parts, wish);
    const ids = items.map((item) => (item as { id?: string }).id);
    const links = Array.from({ length: LINKS }, (_, at) => [`in_${at}`, `out_${at}`]);
    assert.deepEqual(ids, links.flat());
    assert.ok(asked.count <= 5, `${asked.count} questions`);
  });

  it("is refused if a response of the chain is missing", async () => {
    const { parts, shelf } = await openChain();
    await shelf.delete({ tenant: TENANT, kind: "response", id: "resp_7" });
    const refused = { code: "previous_response_not_found", message: /`resp_7`/ };
    await assert.rejects(readBefore(parts, wish), refused);
  });
});
