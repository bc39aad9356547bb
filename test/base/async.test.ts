import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  addStop,
  mapConcurrent,
  removeStop,
  throwIfAborted,
  toAbortFailure,
  untilAborted,
} from "../../src/base/async.ts";
import { Failure } from "../../src/base/failure.ts";

describe("mapConcurrent", () => {
  it("gives results in the order of the inputs, however the work ends", async () => {
    const turns = [3, 1, 2];
    const results = await mapConcurrent(turns, 3, async (count, index) => {
      for (let turn = 0; turn < count; turn++) await Promise.resolve();
      return `${index}:${count}`;
    });
    assert.deepEqual(results, ["0:3", "1:1", "2:2"]);
  });

  it("starts in order and never runs more at once than allowed", async () => {
    const started: number[] = [];
    let running = 0;
    let most = 0;
    await mapConcurrent([0, 1, 2, 3, 4, 5, 6], 3, async (input) => {
      started.push(input);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    });
    assert.deepEqual([started, most], [[0, 1, 2, 3, 4, 5, 6], 3]);
  });

  it("runs one after another with a limit of one", async () => {
    const steps: string[] = [];
    await mapConcurrent(["a", "b"], 1, async (name) => {
      steps.push(`${name} starts`);
      await Promise.resolve();
      steps.push(`${name} ends`);
    });
    assert.deepEqual(steps, ["a starts", "a ends", "b starts", "b ends"]);
  });

  it("does nothing with no inputs", async () => {
    assert.deepEqual(await mapConcurrent([], 4, () => assert.fail()), []);
  });

  it("rejects with the first failure", async () => {
    const work = mapConcurrent([1, 2, 3], 2, async (input) => {
      if (input === 2) throw new Failure("tool_failed", "the second");
      return input;
    });
    await assert.rejects(work, /the second/);
  });
});

describe("an aborted signal", () => {
  it("is thrown as its own failure", () => {
    const reason = new Failure("timeout", "too late");
    const signal = AbortSignal.abort(reason);
    assert.throws(() => throwIfAborted(signal), reason);
    assert.equal(toAbortFailure(signal), reason);
  });

  it("is thrown as cancelled for any other reason, and keeps the reason", () => {
    const reason = new Error("gone");
    assert.throws(() => throwIfAborted(AbortSignal.abort(reason)), {
      code: "cancelled",
      cause: reason,
    });
    assert.throws(() => throwIfAborted(AbortSignal.abort()), { code: "cancelled" });
  });

  it("is thrown only after it has aborted", () => {
    throwIfAborted(new AbortController().signal);
  });
});

describe("untilAborted", () => {
  it("gives what is waited for, or the signal's reason when that comes first", async () => {
    const stop = new AbortController();
    assert.equal(await untilAborted(Promise.resolve(1), stop.signal), 1);
    const waiting = untilAborted(new Promise(() => {}), stop.signal);
    stop.abort();
    await assert.rejects(waiting, { code: "cancelled" });
    const late = Promise.reject(new Error("an unhandled rejection"));
    await assert.rejects(untilAborted(late, stop.signal), { code: "cancelled" });
  });
});

describe("stops of a signal", () => {
  it("are called when it aborts, except those that were removed", () => {
    const controller = new AbortController();
    const called: string[] = [];
    const [first, second, third] = ["first", "second", "third"].map((name) => () => {
      called.push(name);
      // A stop that removes another one does not disturb the rest.
      if (name === "first" && third) removeStop(controller.signal, third);
    });
    for (const stop of [first, second, third]) if (stop) addStop(controller.signal, stop);
    if (second) removeStop(controller.signal, second);
    controller.abort();
    assert.deepEqual(called, ["first", "third"]);
  });
});
