/** `offshoot runs delete` and `runs cancel`: both check first if a process owns the run. */

import { Failure } from "../../base/failure.ts";
import { listNodes, readTree } from "../../delegation/ledger/tree.ts";
import type { RunBody } from "../../engine/engine.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import type { OpenedRecord } from "../open-record.ts";
import { isServers } from "../run-state.ts";
import { withEngine } from "../with-engine.ts";

/**
 * Removes the run and all runs below it. Rejects with `conflict` while a living process owns one of them.
 */
export async function deleteRun(
  opened: OpenedRecord,
  stored: RunRecord,
  { force }: { readonly force: boolean },
): Promise<void> {
  const running = await findRunning(opened, stored);
  if (running.length > 0 && !force) throw await toRefusal(opened, stored, running);
  for (const run of running) await cancelRun(opened, run);
  // One transaction, so that no part of it stays without the rest.
  await opened.engine.delete(stored.id);
}

/** Asks the process that owns the run to end it with all runs below it, and waits until it has. */
export async function cancelRun(
  { record, engine: looking, kept }: OpenedRecord,
  { id }: RunRecord,
): Promise<void> {
  const now = await record.getRun(id);
  if (now?.status !== "running") return;
  try {
    await withEngine(kept, async (engine) => {
      // A queued run has no owner and has done nothing: it is claimed here, and ended.
      if (isQueued(now)) engine.define(now.name, endAtOnce);
      await engine.cancel(id, { tree: true });
    });
  } catch (thrown) {
    // The run or its process ended in the meantime.
    const later = await looking.status(id);
    if (later?.status === "running" && (await looking.isHeld(later, SURELY))) throw thrown;
  }
}

const SURELY = { surely: true };

function isQueued(run: RunRecord): boolean {
  return run.status === "running" && run.owner === null && isServers(run);
}

const endAtOnce: RunBody = async ({ signal }) => {
  signal.throwIfAborted();
  return await new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
};

/** From the top down: cancelling a run also cancels all runs below it. */
async function findRunning({ record, engine }: OpenedRecord, top: RunRecord): Promise<RunRecord[]> {
  const running: RunRecord[] = [];
  for (const { id } of listNodes(await readTree(record, top.id))) {
    const run = await record.getRun(id);
    if (run?.status !== "running") continue;
    if (isQueued(run) || (await engine.isHeld(run, SURELY))) running.push(run);
  }
  return running;
}

async function toRefusal(
  { engine }: OpenedRecord,
  { id }: RunRecord,
  [first]: readonly RunRecord[],
): Promise<Failure> {
  if (first && isQueued(first)) {
    const message = `Not deleted: run ${id} waits for its turn in a server's queue. Cancel it with \`offshoot runs cancel ${id}\`, or cancel and delete it with \`--force\`.`;
    return new Failure("conflict", message);
  }
  const where = first ? await engine.nameHolder(first) : "another process";
  const what = first?.id === id ? "is" : `has a subagent, ${first?.id}, that is`;
  const message = `Not deleted: run ${id} ${what} still running in ${where}. Cancel it with \`offshoot runs cancel ${id}\`, or cancel and delete it with \`--force\`.`;
  return new Failure("conflict", message);
}
