import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createQueueLog } from "../../src/delegation/queue-log.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { createGate } from "./family.ts";

const child = (at: number, callKey = "call") => ({
  child_id: `run/${at}`,
  label: `c${at}`,
  callKey,
});

/** Each event in short, as `place 1 2`; the first write takes until the gate is opened. */
function open() {
  const gate = createGate();
  const written: string[] = [];
  const log = createQueueLog({
    async emit(events: readonly RunEvent[]) {
      for (const event of events) {
        assert.ok(event.type === "child_queue");
        const ids = event.children.map(({ child_id }) => child_id.slice(4));
        written.push([event.why, ...ids].join(" "));
      }
      await gate.opened;
    },
    now: () => 7,
  });
  const settle = async (): Promise<void> => {
    gate.open();
    await new Promise(setImmediate);
  };
  return { written, log, settle };
}

describe("the log of children that wait", () => {
  it("has one event for all that begin to wait while one is written", async () => {
    const { written, log, settle } = open();
    for (let at = 0; at < 1000; at++) log.wait([child(at, `call ${at}`)], "place");
    assert.deepEqual(written, ["place 0"]);
    await settle();
    assert.equal(written.length, 2);
    assert.match(written[1] ?? "", /^place 1 2 .* 999$/);
  });

  it("has an event for each reason, and names no child that waits no longer", async () => {
    const { written, log, settle } = open();
    log.wait([child(0)], "place");
    log.wait([child(1), child(2, "other")], "budget");
    log.wait([child(3, "third")], "place");
    log.leave("run/1");
    await settle();
    assert.deepEqual(written, ["place 0", "budget 2", "place 3"]);
  });

  it("writes a higher reason once for all of the call, and no lower one", async () => {
    const { written, log, settle } = open();
    log.wait([child(0), child(1), child(2)], "place");
    await settle();
    log.leave("run/0");
    log.wait([child(1)], "budget");
    await settle();
    for (const at of [2, 1]) log.wait([child(at)], "budget");
    log.wait([child(2)], "place");
    await settle();
    assert.deepEqual(written, ["place 0 1 2", "budget 1 2"]);
  });
});
