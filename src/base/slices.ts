/**
 * Long work in slices: a large body is parsed, written and stored a few milliseconds at a time, and whatever
 * else waits for the event loop goes between two slices.
 *
 * All long work of the process shares one line. One slice is given for each turn of the loop, however many
 * jobs there are, and owners take turns: a hundred jobs of one tenant delay another's job by one slice each round.
 */

/** Long enough that the line costs little beside the work, short enough that nobody notices. */
const SLICE_MS = 5;

/** A slice is also over after so many pieces, about a megabyte: a fast machine lets others in as often. */
const MAX_PIECES = 16;

export interface Slices {
  /** True when the slice is used up: wait for `next` before going on. Asked once for each piece of work. */
  isOver(): boolean;
  /** Resolves when it is this job's turn, with a new slice. Wait for it before the first piece of work, too. */
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

/** Those who wait, by owner; the first owner is next. */
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

/** Gives one slice. The owner who had it goes to the end of the line. */
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
