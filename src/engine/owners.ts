/** Who owns runs, as one process sees it: itself, or another one that lives. */

import { Failure } from "../base/failure.ts";
import type { Store, StoredRun, Worker } from "../store/store.ts";

type Owned = Pick<StoredRun, "id" | "owner">;

export interface Owners {
  /** Whether somebody runs it, here or elsewhere. */
  has(run: Owned): Promise<boolean>;
  /** Whether this is another process, and it lives. */
  isOther(owner: string): Promise<boolean>;
  toRunning(run: Owned): Promise<Failure>;
}

interface OwnersParts {
  readonly store: Store;
  readonly workerId: string;
  isAlive(worker: Worker): boolean;
  /** Whether this process runs it, or is about to. */
  isHere(id: string): boolean;
}

export function createOwners({ store, workerId, isAlive, isHere }: OwnersParts): Owners {
  async function isOther(owner: string): Promise<boolean> {
    // This process knows what it runs: a run it owns but does not run was given up.
    if (owner === workerId) return false;
    const worker = await store.getWorker(owner);
    return worker !== undefined && isAlive(worker);
  }
  return {
    isOther,
    has: async ({ id, owner }) => isHere(id) || (owner !== null && (await isOther(owner))),
    async toRunning({ id, owner }) {
      const worker = await store.getWorker(isHere(id) ? workerId : (owner ?? workerId));
      const where = worker ? `process ${worker.pid}` : "another process";
      return new Failure("conflict", `Run ${id} is still running in ${where}.`);
    },
  };
}
