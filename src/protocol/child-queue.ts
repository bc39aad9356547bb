/** Children that wait before they start, as the log tells it. */

/** The reasons why a child that was asked for waits, one line each. */
export const WAITS = {
  place: "As many children run at once as may.",
  process: "As many child processes run at once as cores and memory allow.",
  budget: "The remaining budget does not cover its first call.",
} as const;
export type WaitReason = keyof typeof WAITS;

/**
 * Children that cannot be started yet: one event for all that begin to wait together. A `child_start`, or
 * the end of its call, ends the wait. A child may be in a later one with another reason.
 */
export interface ChildQueue {
  readonly type: "child_queue";
  readonly why: WaitReason;
  readonly children: readonly QueuedChild[];
  readonly at_ms: number;
}

export interface QueuedChild {
  /** The id that its run will have. */
  readonly child_id: string;
  readonly label: string;
}
