import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHub } from "../../src/engine/hub.ts";
import { notice, settle } from "./engine-fixture.ts";
import { createManualClock } from "./manual-clock.ts";

describe("hub", () => {
  it("does not lose a wake-up between looking and waiting", async () => {
    const hub = createHub(createManualClock());
    const listener = hub.listen("run_1", 0);
    hub.ring("run_1");
    await listener.wait(1000, undefined);
    let isAwake = false;
    const second = listener.wait(1000, undefined).then(() => {
      isAwake = true;
    });
    await settle();
    assert.equal(isAwake, false, "one ring wakes once");
    hub.ring("run_2");
    await settle();
    assert.equal(isAwake, false, "another run's wake-up wakes no listener");
    hub.ring("run_1");
    await second;
  });

  it("wakes by itself after the time, and rejects with the signal's reason", async () => {
    const clock = createManualClock();
    const listener = createHub(clock).listen("run_1", 0);
    const waiting = listener.wait(1000, undefined);
    clock.advance(1000);
    await waiting;
    const controller = new AbortController();
    const aborted = listener.wait(1000, controller.signal);
    controller.abort(new Error("gone"));
    await assert.rejects(aborted, { message: "gone" });
    await assert.rejects(listener.wait(1000, controller.signal), { message: "gone" });
  });

  it("keeps a limited number of events for a listener", () => {
    const hub = createHub(createManualClock());
    const small = hub.listen("run_1", 2);
    const large = hub.listen("run_1", 10);
    hub.publish("run_1", 0, [notice("a"), notice("b")]);
    hub.publish("run_1", 2, [notice("c")]);
    assert.equal(small.take(), undefined);
    assert.deepEqual(
      large.take()?.map((batch) => batch.map(({ seq }) => seq)),
      [[0, 1], [2]],
    );
    hub.publish("run_1", 3, [notice("d")]);
    assert.equal(small.take()?.[0]?.[0]?.seq, 3, "it continues after the gap");
    large.close();
    hub.publish("run_1", 4, [notice("e")]);
    assert.deepEqual(large.take()?.length, 1, "nothing is heard after closing");
  });
});
