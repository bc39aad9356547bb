/** Owners of runs, as one process sees them: itself, or another one that lives. */

import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { RunStatus } from "../protocol/run-record.ts";
import type { Ownership, Worker } from "../store/ownership.ts";
import { BEAT_MS, type Life } from "./worker.ts";

type Owned = Pick<RunStatus, "id" | "owner">;

export interface Owners {
  /** True if a process runs it, here or elsewhere. */
  has(run: Owned): Promise<boolean>;
  /**
   * The same, once it is certain: an owner on another machine is watched for the length of a lease.
   */
  hasSurely(run: Owned): Promise<boolean>;
  /** True if it is another process, and it may live. */
  isOther(owner: string): Promise<boolean>;
  toRunning(run: Owned): Promise<Failure>;
  /** The owner in words for a person. */
  name(run: Owned): Promise<string>;
}

interface OwnersParts {
  readonly store: Ownership;
  readonly workerId: string;
  readonly clock: Clock;
  lifeOf(worker: Worker): Life;
  /** True if this process runs it, or is about to. */
  isHere(id: string): boolean;
}

export function createOwners(parts: OwnersParts): Owners {
  const { store, clock, workerId, isHere } = parts;
  async function lifeOf(owner: string): Promise<Life> {
    // This process knows what it runs: a run it owns but does not run was given up.
    if (owner === workerId) return "dead";
    const worker = await store.getWorker(owner);
    return worker === undefined ? "dead" : parts.lifeOf(worker);
  }
  const isOther = async (owner: string): Promise<boolean> => (await lifeOf(owner)) !== "dead";

  async function isSurelyOther(owner: string): Promise<boolean> {
    for (;;) {
      const life = await lifeOf(owner);
      if (life !== "unsure") return life === "alive";
      await clock.sleep(BEAT_MS, undefined);
    }
  }
  const findWorker = ({ id, owner }: Owned): Promise<Worker | undefined> =>
    store.getWorker(isHere(id) ? workerId : (owner ?? workerId));
  return {
    isOther,
    hasSurely: async ({ id, owner }) =>
      isHere(id) || (owner !== null && (await isSurelyOther(owner))),
    has: async ({ id, owner }) => isHere(id) || (owner !== null && (await isOther(owner))),
    async toRunning(run) {
      const worker = await findWorker(run);
      const where = worker ? `process ${worker.pid}` : "another process";
      return new Failure("conflict", `Run ${run.id} is still running in ${where}.`);
    },
    async name(run) {
      const worker = await findWorker(run);
      return worker ? `process ${worker.pid} on ${worker.host}` : "another process";
    },
  };
}
