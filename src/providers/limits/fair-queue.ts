/**
 * A line in which owners take turns, whatever the number of calls each has in it: one that asks for
 * a hundred things at once does not make the others wait for all of them. On a server an owner is a tenant, else a run.
 *
 * An owner that enters, or that was served and has more, goes behind every other one. So with n owners
 * in the line each is served within n takes. Adding, removing and taking cost the same at any size.
 */

/** A call that belongs to nobody is an owner of its own. */
export type Owner = string | symbol;

export interface FairQueue<Entry> {
  readonly size: number;
  add(owner: Owner, entry: Entry): void;
  /** Leaves the line; an entry that is not in it is nothing. */
  remove(owner: Owner, entry: Entry): void;
  /** The first entry of the owner whose turn it is. */
  take(): Entry | undefined;
  /** How many entries would be taken before this one, if nobody came or left. */
  ahead(owner: Owner, entry: Entry): number;
  /** Empties the line. */
  takeAll(): Entry[];
}

export function createFairQueue<Entry>(): FairQueue<Entry> {
  // In the order of turns; no owner in it is without entries.
  const owners = new Map<Owner, Set<Entry>>();
  let size = 0;

  function remove(owner: Owner, entry: Entry): void {
    const entries = owners.get(owner);
    if (!entries?.delete(entry)) return;
    size--;
    if (entries.size === 0) owners.delete(owner);
  }

  function take(): Entry | undefined {
    for (const [owner, entries] of owners) {
      for (const entry of entries) {
        remove(owner, entry);
        // Back in at the end: its next turn comes after everybody else's.
        if (owners.delete(owner)) owners.set(owner, entries);
        return entry;
      }
    }
    return undefined;
  }

  return {
    get size() {
      return size;
    },
    add(owner, entry) {
      const entries = owners.get(owner) ?? new Set();
      owners.set(owner, entries.add(entry));
      size++;
    },
    remove,
    take,
    ahead: (owner, entry) => countAhead(owners, owner, entry),
    takeAll() {
      const all = [...owners.values()].flatMap((entries) => [...entries]);
      owners.clear();
      size = 0;
      return all;
    },
  };
}

/** Each owner before ours has one turn more than we have entries before this one, the others as many. */
function countAhead<Entry>(
  owners: ReadonlyMap<Owner, ReadonlySet<Entry>>,
  owner: Owner,
  entry: Entry,
): number {
  const own = [...(owners.get(owner) ?? [])].indexOf(entry);
  if (own < 0) return 0;
  let count = own;
  let turns = own + 1;
  for (const [other, entries] of owners) {
    if (other === owner) turns = own;
    else count += Math.min(entries.size, turns);
  }
  return count;
}
