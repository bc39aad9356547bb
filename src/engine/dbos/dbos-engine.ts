/**
 * The engine whose runs are workflows of DBOS Transact, over a Postgres store. It is the local engine with another
 * carrier: a run is a workflow with the run's id, started where the run was claimed, and it is removed from DBOS's
 * tables when it has ended.
 *
 * What DBOS does not do here, because it cannot keep what the contract promises:
 *
 * - The log, the journal and the endings stay in the store. `Step.end` and an ending are one transaction over log,
 *   journal, shelf and money; a checkpoint of DBOS is a transaction of its own.
 * - The claim in the store decides which process takes a run over. `resumeWorkflows` has no condition: of two
 *   processes that find a dead owner at the same time, the second takes the run from the first, which is alive. And
 *   DBOS gives a resumed workflow to any process that listens, whatever its settings and folders are.
 * - Queues are those of the store: lanes in turn by tenant, bounded waiting, and a limit for each process. DBOS keeps
 *   the limit for a process with the queue, the same for all, and has no lanes.
 * - Children are workflows of their own. DBOS numbers what a workflow starts by the order of starts; a stage that has
 *   ended is not entered again after a takeover, so the numbers would name other children.
 */

import { systemClock } from "../../base/clock.ts";
import type { Engine } from "../engine.ts";
import { createLocalEngine } from "../local-engine.ts";
import type { LocalEngineOptions } from "../local-engine-options.ts";
import { makeWorkerId } from "../worker.ts";
import { createDbosCarrier, type DbosCarrier, type DbosPlace } from "./dbos-carrier.ts";

export interface DbosEngineOptions extends Omit<LocalEngineOptions, "carrier"> {
  readonly place: DbosPlace;
}

/** Rejects if DBOS cannot be launched: its tables are missing, or its database does not answer. */
export async function openDbosEngine(options: DbosEngineOptions): Promise<Engine> {
  const { engine, carrier } = connect(options);
  await carrier.open();
  return engine;
}

/** The same, launched by the first run. */
export function createDbosEngine(options: DbosEngineOptions): Engine {
  return connect(options).engine;
}

function connect({ place, ...options }: DbosEngineOptions): {
  readonly engine: Engine;
  readonly carrier: DbosCarrier;
} {
  const { store, clock = systemClock, workerId = makeWorkerId() } = options;
  const carrier = createDbosCarrier({ place, store, clock, workerId });
  return { engine: createLocalEngine({ ...options, workerId, carrier }), carrier };
}
