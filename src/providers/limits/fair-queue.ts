/**
 * A queue in which tenants take turns and, in the turns of a tenant, its runs, however many calls each has.
 * A run with a hundred parallel calls does not make the others wait for all of them, and neither does a
 * tenant with a hundred runs.
 *
 * A tenant or run that enters, or was served and has more calls, goes to the end. So with n tenants in the
 * queue each is served within n takes, and a run within n times the number of its tenant's runs. Taking
 * costs the same at any size.
 */

export interface LimiterPlace {
  /** The tenant of the call; without tenants, the run itself. */
  readonly owner: PlaceKey;
  readonly run: PlaceKey;
}

/** A call that belongs to no run counts as a run of its own, with a symbol. */
export type PlaceKey = string | symbol;

export interface FairQueue<Entry> {
  readonly size: number;
  add(place: LimiterPlace, entry: Entry): void;
  /** Removes an entry. An entry that is not in the queue is ignored. */
  remove(place: LimiterPlace, entry: Entry): void;
  /** The first entry of the run whose turn it is. */
  take(): Entry | undefined;
  /** How many entries would be taken before this one, if none came or left. */
  ahead(place: LimiterPlace, entry: Entry): number;
  /** Empties the queue. */
  takeAll(): Entry[];
}

export function createFairQueue<Entry>(): FairQueue<Entry> {
  let tenants = createLine<Line<Set<Entry>>>();
  return {
    get size() {
      return tenants.size;
    },
    add({ owner, run }, entry) {
      const runs = enter(tenants, owner, () => createLine<Set<Entry>>());
      const entries = enter(runs, run, () => new Set<Entry>());
      const before = entries.size;
      entries.add(entry);
      const more = entries.size - before;
      runs.size += more;
      tenants.size += more;
    },
    remove({ owner, run }, entry) {
      const runs = tenants.members.get(owner);
      const entries = runs?.members.get(run);
      if (!(runs && entries?.delete(entry))) return;
      leave(runs, run, entries);
      leave(tenants, owner, runs);
    },
    take: () => takeTurn(tenants, (runs) => takeTurn(runs, takeFirst)),
    ahead({ owner, run }, entry) {
      const runs = tenants.members.get(owner);
      const own = [...(runs?.members.get(run) ?? [])].indexOf(entry);
      if (!runs || own < 0) return 0;
      return countAhead(tenants, owner, countAhead(runs, run, own));
    },
    takeAll() {
      const all = [...tenants.members.values()].flatMap(({ members }) =>
        [...members.values()].flatMap((entries) => [...entries]),
      );
      tenants = createLine();
      return all;
    },
  };
}

/** Members in the order of their turns. Each has entries. */
interface Line<Member> {
  readonly members: Map<PlaceKey, Member>;
  /** The number of all entries. */
  size: number;
}

function createLine<Member>(): Line<Member> {
  return { members: new Map(), size: 0 };
}

function enter<Member>({ members }: Line<Member>, key: PlaceKey, create: () => Member): Member {
  const member = members.get(key) ?? create();
  members.set(key, member);
  return member;
}

/** Removes one entry of a member. */
function leave<Member extends { readonly size: number }>(
  line: Line<Member>,
  key: PlaceKey,
  member: Member,
): void {
  line.size--;
  if (member.size === 0) line.members.delete(key);
}

function takeTurn<Member extends { readonly size: number }, Entry>(
  line: Line<Member>,
  take: (member: Member) => Entry | undefined,
): Entry | undefined {
  for (const [key, member] of line.members) {
    const entry = take(member);
    leave(line, key, member);
    // Adds it at the end again: its next turn comes after all others.
    if (line.members.delete(key)) line.members.set(key, member);
    return entry;
  }
  return undefined;
}

function takeFirst<Entry>(entries: Set<Entry>): Entry | undefined {
  for (const entry of entries) {
    entries.delete(entry);
    return entry;
  }
  return undefined;
}

/**
 * Counts the entries ahead. Ours has `own` entries before: each member before ours has one turn more than
 * that, the others as many.
 */
function countAhead<Member extends { readonly size: number }>(
  { members }: Line<Member>,
  ours: PlaceKey,
  own: number,
): number {
  let count = own;
  let turns = own + 1;
  for (const [key, { size }] of members) {
    if (key === ours) turns = own;
    else count += Math.min(size, turns);
  }
  return count;
}
