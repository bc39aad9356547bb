import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBackgroundQueue } from "../../../src/runtime/responses/background-queue.ts";

const SIGNAL = new AbortController().signal;

describe("the queue of background responses", () => {
  it("takes so many of a tenant beyond those that run, and as many of another", async () => {
    const queue = createBackgroundQueue({ maxBackground: 1, maxQueued: 2 });
    const leave: (() => void)[] = [];
    const begin = (tenant: string, id: string): void => {
      queue.admit(tenant, id);
      void queue.enter(tenant, id, SIGNAL).then((left) => leave.push(left));
    };
    for (const id of ["1", "2", "3"]) begin("a", id);
    assert.throws(() => begin("a", "4"), { code: "rate_limited", retryAfterMs: 5000 });
    for (const id of ["5", "6"]) begin("b", id);
    assert.throws(() => begin("b", "7"), /2 background responses wait already/);
    await new Promise((resolve) => setImmediate(resolve));
    leave.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    begin("a", "4");
    assert.throws(() => begin("a", "8"), { code: "rate_limited" });
  });

  it("counts those that are on their way to it, and not those that never came", () => {
    const queue = createBackgroundQueue({ maxBackground: 2, maxQueued: 1 });
    for (const id of ["1", "2", "3"]) queue.admit("a", id);
    assert.throws(() => queue.admit("a", "4"), { code: "rate_limited" });
    queue.forget("2");
    queue.admit("a", "4");
  });

  it("lets go of one that is cancelled while it waits", async () => {
    const queue = createBackgroundQueue({ maxBackground: 1, maxQueued: 1 });
    await queue.enter("a", "1", SIGNAL);
    const cancel = new AbortController();
    queue.admit("a", "2");
    const entered = queue.enter("a", "2", cancel.signal);
    assert.throws(() => queue.admit("a", "3"), { code: "rate_limited" });
    cancel.abort();
    await assert.rejects(entered);
    queue.admit("a", "3");
  });

  it("counts those that another process has left, and refuses none of them", async () => {
    const queue = createBackgroundQueue({ maxBackground: 1, maxQueued: 1 });
    for (const id of ["1", "2", "3"]) void queue.enter("a", id, SIGNAL);
    assert.throws(() => queue.admit("a", "4"), { code: "rate_limited" });
    queue.admit("b", "5");
  });
});
