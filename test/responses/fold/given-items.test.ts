import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import type { ClientInput } from "../../../src/protocol/run-events.ts";
import { createGivenItems, withGiven } from "../../../src/responses/fold/given-items.ts";

const output = (call_id: string): Item => ({ type: "function_call_output", call_id, output: "" });
const input = (agent: string, ...ids: readonly string[]): ClientInput => ({
  type: "client_input",
  agent,
  items: ids.map(output),
  at_ms: 0,
});
const shown = (items: readonly unknown[]): unknown[] =>
  items.map((item) => (item as { call_id?: string }).call_id ?? item);

describe("what the client has answered in between", () => {
  it("stands before the turn of the agent that continues with it", () => {
    const given = createGivenItems();
    given.add(input("/root/a", "1"));
    given.add(input("/root/b", "2"));
    given.read("/root/b", 1);
    given.add(input("/root/a", "3"));
    given.read("/root/a", 3);
    given.read("/root/a", 4);
    assert.deepEqual(shown(withGiven(["x", "y", "z", "w"], given.placed())), [
      ...["x", "2", "y", "z", "1", "3", "w"],
    ]);
  });

  it("stands at the end if that agent has not begun or said anything yet", () => {
    const given = createGivenItems();
    given.add(input("/root/a", "1"));
    given.add(input("/root/b", "2"));
    given.read("/root/a", 1);
    assert.deepEqual(shown(withGiven(["x"], given.placed())), ["x", "1", "2"]);
    assert.deepEqual(shown(withGiven([], given.placed())), ["1", "2"]);
  });

  it("belongs to no agent without a team", () => {
    const given = createGivenItems();
    given.read(undefined, 0);
    assert.deepEqual(given.placed(), []);
  });
});
