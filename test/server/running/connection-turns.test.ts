import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type ConnectionTurns,
  createConnectionTurns,
} from "../../../src/server/running/connection-turns.ts";

interface Bench extends ConnectionTurns<string, number> {
  /** Which worker got which connection, in order. */
  readonly given: readonly string[];
}

function open(...workers: string[]): Bench {
  const given: string[] = [];
  const turns = createConnectionTurns<string, number>((worker, connection) => {
    given.push(`${worker}${connection}`);
  });
  for (const worker of workers) turns.join(worker);
  return { ...turns, given };
}

describe("turns of connections", () => {
  it("go round the workers", () => {
    const { add, taken, given } = open("a", "b");
    for (const connection of [1, 2, 3, 4]) {
      add(connection);
      taken(connection % 2 === 1 ? "a" : "b");
    }
    assert.deepEqual(given, ["a1", "b2", "a3", "b4"]);
  });

  it("pass over a worker that has not taken its connection yet", () => {
    const { add, taken, given } = open("a", "b");
    add(1);
    for (const connection of [2, 3, 4]) {
      add(connection);
      assert.equal(taken("b"), connection);
    }
    assert.equal(taken("a"), 1);
    assert.deepEqual(given, ["a1", "b2", "b3", "b4"]);
  });

  it("give what a worker has not taken to another when it is gone", () => {
    const { add, taken, leave, given } = open("a", "b");
    add(1);
    add(2);
    add(3);
    leave("a");
    // The first one goes before the third, which came later.
    taken("b");
    taken("b");
    assert.deepEqual(given, ["a1", "b2", "b1", "b3"]);
    assert.equal(taken("a"), undefined);
  });

  it("let connections wait while there is no worker", () => {
    const { add, join, taken, leave, given } = open("a");
    leave("a");
    add(1);
    add(2);
    assert.deepEqual(given, []);
    join("b");
    taken("b");
    assert.deepEqual(given, ["b1", "b2"]);
  });

  it("return what no worker has taken", () => {
    const { add, taken, takeAll, given } = open("a");
    for (const connection of [1, 2, 3]) add(connection);
    taken("a");
    assert.deepEqual(takeAll(), [2, 3]);
    assert.deepEqual(takeAll(), []);
    assert.deepEqual(given, ["a1", "a2"]);
  });

  it("are given to another worker once theirs takes no more, and to none once all have said so", () => {
    const { add, leave, takeAll, given } = open("a", "b");
    add(1);
    add(2);
    add(3);
    assert.equal(leave("a"), true);
    assert.equal(leave("b"), false);
    assert.deepEqual(
      takeAll().toSorted((a, b) => a - b),
      [1, 2, 3],
    );
    assert.equal(given.length, 2);
    assert.equal(leave("b"), false, "a second time changes nothing");
  });
});
