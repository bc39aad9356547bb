/**
 * Long work in slices: a large body is parsed, written and stored a few milliseconds at a time, and other
 * work of the event loop runs between two slices.
 *
 * All long work of the process shares one queue. One slice is given for each turn of the loop, however many
 * jobs there are, and owners take turns: a hundred jobs of one tenant delay another's job by one slice each
 * round.
 */

/**
 * Long enough that queueing costs little compared with the work, short enough that no request is delayed
 * noticeably.
 */
const SLICE_MS = 5;

/**
 * A slice also ends after so many pieces, about a megabyte, so that a fast machine lets others in as often.
 */
const MAX_PIECES = 16;

export interface Slices {
  /** True when the slice is used up: wait for `next` then. Asked once for each piece of work. */
  isOver(): boolean;
  /**
   * Resolves when it is this job's turn, with a new slice. Wait for it before the first piece of work, too.
   */
  next(): Promise<void>;
}

/** The slices of one job. Jobs of one owner take their slices in the order in which they asked. */
export function createSlices(owner: string): Slices {
  let endMs = 0;
  let pieces = 0;
  return {
    isOver: () => ++pieces > MAX_PIECES || performance.now() >= endMs,
    next: () =>
      new Promise((resolve) => {
        enter(owner, () => {
          endMs = performance.now() + SLICE_MS;
          pieces = 0;
          resolve();
        });
      }),
  };
}

/** Waiting jobs by owner; the first owner is next. */
const line = new Map<string, (() => void)[]>();
let isMoving = false;

function enter(owner: string, begin: () => void): void {
  const waiting = line.get(owner);
  if (waiting) waiting.push(begin);
  else line.set(owner, [begin]);
  if (isMoving) return;
  isMoving = true;
  setImmediate(move);
}

/** Gives one slice. The owner who had it goes to the end of the queue. */
function move(): void {
  const [first] = line;
  if (!first) {
    isMoving = false;
    return;
  }
  const [owner, waiting] = first;
  line.delete(owner);
  const begin = waiting.shift();
  if (waiting.length > 0) line.set(owner, waiting);
  begin?.();
  // After the slice, which runs before the next callback; in the next turn of the loop.
  setImmediate(move);
}
