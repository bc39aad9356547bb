/**
 * One process with one engine, which the bench asks for work over its channel:
 *
 *     node worker.js own|dbos ADDRESS
 */

import { systemClock } from "../../src/base/clock.ts";
import { makeId } from "../../src/base/ids.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { openEngine } from "../../src/engine/open-engine.ts";
import { openKept } from "../../src/store/open-kept.ts";
import { defineBodies } from "./bodies.ts";

/** What the bench asks for. */
export type Order =
  | { readonly do: "run"; readonly body: string; readonly count: number; readonly atOnce: number }
  | { readonly do: "hang" }
  | { readonly do: "sweep" };

/** The answer to the bench; times in milliseconds. */
export interface Told {
  readonly latencies?: readonly number[] | undefined;
  readonly cpuMs?: number | undefined;
  /** By the machine's monotonic clock. */
  readonly takenAt?: number | undefined;
}

/** How often a process that may take over looks for runs of processes that are gone. */
const SWEEP_MS = 50;
const DEPTH = 2;

const [kind = "", address = ""] = process.argv.slice(2);
const engine = await openEngine(await openKept(address), {
  dbos: kind === "dbos" ? { address } : undefined,
});
defineBodies(engine, () => tell({ takenAt: Number(process.hrtime.bigint()) / 1e6 }));
process.on("disconnect", () => process.exit());
process.on("message", (order: Order) => void obey(order));
tell({});

async function obey(order: Order): Promise<void> {
  switch (order.do) {
    case "run":
      return tell(await measure(engine, order));
    case "hang":
      return await engine.submit("hang", null, { id: makeId("run"), title: "" });
    case "sweep":
      for (;;) {
        await engine.start();
        await systemClock.sleep(SWEEP_MS, undefined);
      }
  }
}

async function measure(engine: Engine, { body, count, atOnce }: Order & { do: "run" }) {
  const latencies: number[] = [];
  const before = process.cpuUsage();
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const startedAt = performance.now();
      const id = makeId("run");
      await engine.submit(body, DEPTH, { id, title: "" });
      await engine.result(id);
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  await engine.idle();
  const { user, system } = process.cpuUsage(before);
  return { latencies, cpuMs: (user + system) / 1000 };
}

function tell(told: Told): void {
  process.send?.(told);
}
