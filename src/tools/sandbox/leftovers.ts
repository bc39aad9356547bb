/**
 * Ends commands that a dead process left running. Usually there are none, because its keeper has ended them
 * (`life-line.ts`). But a keeper can be killed too, and a run may be resumed at the same moment.
 */

import { hasProcess, type Machine, readMachine, readStartTime } from "../../base/processes.ts";
import type { ProcessMark } from "../../protocol/tool-process.ts";
import { MARK } from "./process.ts";
import { findFamily, readMarks, send, sweep } from "./process-group.ts";

/** Ends them with everything they started. Returns those that still run after that. */
export async function endLeftovers(
  processes: readonly ProcessMark[],
  machine: Machine = readMachine(),
): Promise<ProcessMark[]> {
  // The number of another namespace, or from before a restart, belongs to another process here.
  const here = processes.filter(
    ({ boot, pid_namespace }) => boot === machine.boot && pid_namespace === machine.pidNamespace,
  );
  // One search for all of them: a run may have started hundreds of commands of which none is left.
  const marked = readMarks(MARK);
  const found = here.filter((one) => marked.has(one.mark) || isSame(one));
  const left: ProcessMark[] = [];
  for (const one of found) if (!(await end(one))) left.push(one);
  return left;
}

/** Returns true if nothing of it is left. */
async function end(one: ProcessMark): Promise<boolean> {
  const entry = `${MARK}=${one.mark}`;
  const isLeader = isSame(one);
  const family = findFamily(entry, isLeader ? one.pid : undefined);
  if (!isLeader && family.length === 0) return true;
  // The process's group has its number, and is its own as long as the leader is the started process.
  if (isLeader) send(-one.pid, "SIGKILL");
  for (const pid of family) send(pid, "SIGKILL");
  await sweep(entry, family);
  return !isSame(one) && findFamily(entry, undefined).length === 0;
}

/** Without its start time it is unknown whether it is the same process, so it is left alone. */
function isSame({ pid, started }: ProcessMark): boolean {
  return started === "" ? false : hasProcess(pid) && readStartTime(pid) === started;
}
