/**
 * The streams of a connection: turns of one stream run one after the other, those of different streams at the same
 * time, as far as there is room.
 */

import { Failure } from "../../base/failure.ts";
import { toStreamsFailure } from "./error-event.ts";
import type { SocketSettings } from "./socket-settings.ts";

export interface Job {
  readonly streamId: string | undefined;
  /** The memory that it holds while it waits. */
  readonly bytes: number;
  /** Must not reject. */
  run(): Promise<void>;
}

export interface Lanes {
  /** Rejects if too much waits or there are too many streams. */
  add(job: Job): void;
  /** Puts the job before all that wait in its stream, which must exist. */
  addFirst(job: Job): void;
  isIdle(): boolean;
}

interface Lane {
  readonly waiting: Job[];
  isRunning: boolean;
}

/** `onIdle` is called when nothing runs and nothing waits. */
export function createLanes(settings: SocketSettings, onIdle: () => void): Lanes {
  const lanes = new Map<string | undefined, Lane>();
  const waiting = { jobs: 0, bytes: 0 };
  let running = 0;

  const laneOf = (streamId: string | undefined): Lane => {
    const known = lanes.get(streamId);
    if (known) return known;
    const named = lanes.size - (lanes.has(undefined) ? 1 : 0);
    if (streamId !== undefined && named >= settings.maxStreams) {
      throw toStreamsFailure(settings.maxStreams);
    }
    const lane: Lane = { waiting: [], isRunning: false };
    lanes.set(streamId, lane);
    return lane;
  };

  const start = (lane: Lane, job: Job): void => {
    // Moves to the end of the order, so that each stream has its turn if not all fit.
    lanes.delete(job.streamId);
    lanes.set(job.streamId, lane);
    lane.isRunning = true;
    running++;
    waiting.jobs--;
    waiting.bytes -= job.bytes;
    void job.run().finally(() => {
      lane.isRunning = false;
      running--;
      startNext();
      if (running === 0) onIdle();
    });
  };

  const startNext = (): void => {
    for (const lane of [...lanes.values()]) {
      if (running >= settings.maxRunning) return;
      const job = lane.isRunning ? undefined : lane.waiting.shift();
      if (job) start(lane, job);
    }
  };

  const put = (job: Job, into: (waiting: Job[]) => void): void => {
    into(laneOf(job.streamId).waiting);
    waiting.jobs++;
    waiting.bytes += job.bytes;
    startNext();
  };

  return {
    add(job) {
      const isFull = waiting.jobs >= settings.maxWaiting;
      if (isFull || waiting.bytes + job.bytes > 2 * settings.maxMessageBytes) throw toFull();
      put(job, (jobs) => jobs.push(job));
    },
    addFirst: (job) => put(job, (jobs) => jobs.unshift(job)),
    isIdle: () => running === 0,
  };
}

function toFull(): Failure {
  const message =
    "Too many messages of this connection are waiting. Send more when a response has ended, or open another one.";
  return new Failure("rate_limited", message);
}
