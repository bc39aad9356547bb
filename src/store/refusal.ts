/** Why a store refuses a write, in one place, so that every store says it with the same words. */

import { Failure } from "../base/failure.ts";

/** The stored state of a run at the moment of a write. */
interface Current {
  readonly epoch: number;
  readonly status: "running" | "ended";
  readonly next_seq: number;
}

/** The state of a run that its writer expects. Writes without events leave `firstSeq` out. */
interface Belief {
  readonly id: string;
  readonly epoch: number;
  readonly firstSeq?: number | undefined;
}

/** The failure of a refused write, or undefined when it may continue. */
export function toRefusal(current: Current | undefined, belief: Belief): Failure | undefined {
  const { id, epoch, firstSeq } = belief;
  if (!current) return new Failure("fenced", `Run ${id} was removed; the write was refused.`);
  if (current.epoch !== epoch) {
    const message = `Run ${id} was taken over (epoch ${current.epoch}, not ${epoch}); the write was refused.`;
    return new Failure("fenced", message);
  }
  if (current.status === "ended") {
    return new Failure("internal", `Run ${id} has ended; nothing can be written after that.`);
  }
  if (firstSeq !== undefined && current.next_seq !== firstSeq) {
    const message = `Run ${id} expects event ${current.next_seq} next, not ${firstSeq}.`;
    return new Failure("internal", message);
  }
  return undefined;
}

export function toUnknownRun(id: string): Failure {
  return new Failure("not_found", `There is no run \`${id}\`.`);
}

export function toRepeatedStep(id: string, key: string): Failure {
  return new Failure("internal", `Step \`${key}\` of run ${id} is in the journal already.`);
}

export function toUnknownThing({ kind, id }: { kind: string; id: string }): Failure {
  return new Failure("not_found", `There is no ${kind} \`${id}\`.`);
}

export function toContentLost({ kind, id }: { kind: string; id: string }): Failure {
  const message = `The bytes of ${kind} \`${id}\` were replaced or removed by another request meanwhile. Try again.`;
  return new Failure("conflict", message);
}

/** How many characters of messages may wait for a run; it reads all of them at once. */
const MAX_WAITING_CHARS = 4_000_000;

/** Throws if so much waits already that the next message is refused. */
export function checkWaiting(chars: number): void {
  if (chars < MAX_WAITING_CHARS) return;
  const message =
    "Too many messages wait for this run. It reads them before its next turn; try again then.";
  throw new Failure("rate_limited", message);
}
