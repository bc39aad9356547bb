/**
 * A line in which runs take turns, whatever the number of calls each has in it: a run that asks for
 * a hundred things at once does not make the others wait for all of them.
 *
 * A run that enters, or that was served and has more, goes behind every other run. So with n runs
 * in the line each is served within n takes. Adding, removing and taking cost the same at any size.
 */

/** A call that belongs to no run is a run of its own. */
export type RunKey = string | symbol;

export interface FairQueue<Entry> {
  readonly size: number;
  add(run: RunKey, entry: Entry): void;
  /** Leaves the line; an entry that is not in it is nothing. */
  remove(run: RunKey, entry: Entry): void;
  /** The first entry of the run whose turn it is. */
  take(): Entry | undefined;
  /** How many entries would be taken before this one, if nobody came or left. */
  ahead(run: RunKey, entry: Entry): number;
  /** Empties the line. */
  takeAll(): Entry[];
}

export function createFairQueue<Entry>(): FairQueue<Entry> {
  // In the order of turns; no run in it is without entries.
  const runs = new Map<RunKey, Set<Entry>>();
  let size = 0;

  function remove(run: RunKey, entry: Entry): void {
    const entries = runs.get(run);
    if (!entries?.delete(entry)) return;
    size--;
    if (entries.size === 0) runs.delete(run);
  }

  function take(): Entry | undefined {
    for (const [run, entries] of runs) {
      for (const entry of entries) {
        remove(run, entry);
        // Back in at the end: its next turn comes after everybody else's.
        if (runs.delete(run)) runs.set(run, entries);
        return entry;
      }
    }
    return undefined;
  }

  return {
    get size() {
      return size;
    },
    add(run, entry) {
      const entries = runs.get(run) ?? new Set();
      runs.set(run, entries.add(entry));
      size++;
    },
    remove,
    take,
    ahead: (run, entry) => countAhead(runs, run, entry),
    takeAll() {
      const all = [...runs.values()].flatMap((entries) => [...entries]);
      runs.clear();
      size = 0;
      return all;
    },
  };
}

/** Each run before ours has one turn more than we have entries before this one, the others as many. */
function countAhead<Entry>(
  runs: ReadonlyMap<RunKey, ReadonlySet<Entry>>,
  run: RunKey,
  entry: Entry,
): number {
  const own = [...(runs.get(run) ?? [])].indexOf(entry);
  if (own < 0) return 0;
  let count = own;
  let turns = own + 1;
  for (const [other, entries] of runs) {
    if (other === run) turns = own;
    else count += Math.min(entries.size, turns);
  }
  return count;
}
