import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { readThreadMs } from "../../src/base/thread-time.ts";

const isTold = process.platform === "linux" || "threadCpuUsage" in process;

/** Works for a number of milliseconds of processor time, and wakes the waiting thread. */
const BUSY = `
  const { workerData: { flag, ms } } = require("node:worker_threads");
  const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  for (const end = used() + ms; used() < end; );
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
`;

describe("the processor time of a thread", () => {
  it("grows with its own work", () => {
    const before = readThreadMs();
    while (readThreadMs() - before < 20);
  });

  it("does not grow with the work of another thread", { skip: !isTold }, async () => {
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const before = readThreadMs();
    const worker = new Worker(BUSY, { eval: true, workerData: { flag, ms: 500 } });
    // The thread begins without this one, which sleeps until it is done.
    Atomics.wait(flag, 0, 0);
    const own = readThreadMs() - before;
    assert.ok(own < 250, `${own} ms, while another used 500`);
    await worker.terminate();
  });
});
