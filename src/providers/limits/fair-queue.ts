/**
 * A line in which tenants take turns, and in the turns of a tenant its runs, whatever the number of calls each has in
 * it: a run that asks for a hundred things at once does not make the others wait for all of them, and neither does a
 * tenant with a hundred runs.
 *
 * Who enters, or was served and has more, goes behind every other one. So with n tenants in the line each is served
 * within n takes, and a run within n times the runs of its tenant. Taking costs the same at any size.
 */

export interface Place {
  /** Whose call it is; where nobody's, the run's own. */
  readonly owner: PlaceKey;
  readonly run: PlaceKey;
}

/** A call that belongs to no run is a run of its own, with a symbol. */
export type PlaceKey = string | symbol;

export interface FairQueue<Entry> {
  readonly size: number;
  add(place: Place, entry: Entry): void;
  /** Leaves the line; an entry that is not in it is nothing. */
  remove(place: Place, entry: Entry): void;
  /** The first entry of the run whose turn it is. */
  take(): Entry | undefined;
  /** How many entries would be taken before this one, if nobody came or left. */
  ahead(place: Place, entry: Entry): number;
  /** Empties the line. */
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

/** Those who take turns, in the order of their turns. None is without entries. */
interface Line<Member> {
  readonly members: Map<PlaceKey, Member>;
  /** Of all entries. */
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

/** One entry of a member is gone. */
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
    // Back in at the end: its next turn comes after everybody else's.
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

/** Of a line in which ours has `own` entries before: each before ours has one turn more than that, the others as many. */
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
