/**
 * What the commands of a process that is gone have left running. As a rule nothing: its keeper has ended
 * them (`life-line.ts`). But a keeper can be killed too, and a run may be resumed in the same moment.
 */

import { hasProcess, type Machine, readMachine, readStartTime } from "../../base/processes.ts";
import type { ProcessMark } from "../../protocol/run-events.ts";
import { MARK } from "./process.ts";
import { findFamily, readMarks, send, sweep } from "./process-group.ts";

/** Ends them with everything they started; returns those that still run after that. */
export async function endLeftovers(
  processes: readonly ProcessMark[],
  machine: Machine = readMachine(),
): Promise<ProcessMark[]> {
  // A number of another namespace or another start of the system is somebody else's here.
  const here = processes.filter(
    ({ boot, pid_namespace }) => boot === machine.boot && pid_namespace === machine.pidNamespace,
  );
  // One look for all of them: a run may have started hundreds of commands, and none be left.
  const marked = readMarks(MARK);
  const found = here.filter((one) => marked.has(one.mark) || isSame(one));
  const left: ProcessMark[] = [];
  for (const one of found) if (!(await end(one))) left.push(one);
  return left;
}

/** Whether nothing of it is left. */
async function end(one: ProcessMark): Promise<boolean> {
  const entry = `${MARK}=${one.mark}`;
  const isLeader = isSame(one);
  const family = findFamily(entry, isLeader ? one.pid : undefined);
  if (!isLeader && family.length === 0) return true;
  // Its group has its number: nobody else's, as long as the leader is the one that was started.
  if (isLeader) send(-one.pid, "SIGKILL");
  for (const pid of family) send(pid, "SIGKILL");
  await sweep(entry, family);
  return !isSame(one) && findFamily(entry, undefined).length === 0;
}

/** Without a time of its start nobody knows whether it is the same, so it is left alone. */
function isSame({ pid, started }: ProcessMark): boolean {
  return started === "" ? false : hasProcess(pid) && readStartTime(pid) === started;
}
