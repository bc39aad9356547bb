import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ITEM_FACTS } from "../../../src/protocol/item-facts.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { toRunOfItem } from "../../../src/responses/fold/emitted-item.ts";
import { withId, withInputIds } from "../../../src/responses/fold/with-id.ts";

const RUN = "run_01k0000000000000000000000a";
const of = (type: string, id?: string | null): Item =>
  ({ type, ...(id === undefined ? {} : { id }) }) as unknown as Item;
const idOf = (item: Item | undefined): unknown => item && "id" in item && item.id;

describe("the id of an item", () => {
  it("stays the one that the client gave", () => {
    assert.equal(idOf(withId(of("message", "mine"))), "mine");
    assert.equal(idOf(withInputIds([of("message", "mine")], RUN)[0]), "mine");
  });

  it("is made if it is missing, null or empty, and is another one each time", () => {
    const made = [undefined, null, ""].map((id) => idOf(withId(of("message", id))));
    assert.equal(new Set(made).size, 3);
    for (const id of made) assert.match(String(id), /^msg_[0-9a-z]+$/);
  });

  for (const [type, { idPrefix }] of ITEM_FACTS) {
    it(`begins with ${idPrefix}_ for ${type}`, () => {
      assert.match(String(idOf(withId(of(type)))), new RegExp(`^${idPrefix}_`));
    });
  }

  it("begins with item_ for an unknown type, also for names that every object has", () => {
    for (const type of ["acme", "constructor", "__proto__"]) {
      assert.match(String(idOf(withId(of(type)))), /^item_/);
    }
  });

  it("names the run and the place of an item of its input", () => {
    const items = withInputIds([of("message"), of("function_call_output")], RUN);
    assert.deepEqual(items.map(idOf), [
      "msg_01k0000000000000000000000a_in0",
      "fco_01k0000000000000000000000a_in1",
    ]);
    for (const item of items) assert.equal(toRunOfItem(String(idOf(item))), RUN);
  });
});
