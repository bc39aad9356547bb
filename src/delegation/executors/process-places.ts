/** How many child processes a machine has room for. */

import { availableParallelism } from "node:os";

/** A child waits for its model most of the time. */
const PROCESSES_PER_CORE = 4;
/** The memory of one working process, with some to spare. */
const PROCESS_BYTES = 128 * 1024 * 1024;

interface Machine {
  readonly cores: number;
  readonly freeBytes: number;
}

/** At least one: a child must not wait for ever. Half of the memory stays for other programs. */
export function countProcessPlaces(machine: Machine = findMachine()): number {
  const byMemory = Math.floor(machine.freeBytes / 2 / PROCESS_BYTES);
  return Math.max(1, Math.min(machine.cores * PROCESSES_PER_CORE, byMemory));
}

function findMachine(): Machine {
  return { cores: availableParallelism(), freeBytes: process.availableMemory() };
}
