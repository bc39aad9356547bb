/**
 * The limits that a single database and its servers reach first, and what to do then. The bounds are those of one
 * large machine and are assumed, not measured; change them for yours.
 */

import { type Costs, type ModelLoad, type Needs, toNeeds } from "./model.ts";

export interface Limit {
  readonly name: string;
  /** For people: the unit of the bound. */
  readonly unit: string;
  readonly most: number;
  used(needs: Needs): number;
  /** What to do when it is reached. */
  readonly advice: string;
}

const SEVERAL =
  "several databases, each with its own servers: tenants share nothing, so let the proxy choose by host name";

export const LIMITS: readonly Limit[] = [
  {
    name: "cores of the database",
    unit: "cores",
    most: 32,
    used: ({ databaseCores }) => databaseCores,
    advice: `\`store: false\` for what is never read again; then ${SEVERAL}. A read replica helps reports and backups alone: servers read what they have just written`,
  },
  {
    name: "log of the database",
    unit: "MB/s",
    most: 200,
    used: ({ walBytesPerSecond }) => walBytesPerSecond / 1e6,
    advice: `a disk of its own for \`pg_wal\`; then ${SEVERAL}`,
  },
  {
    name: "transactions",
    unit: "a second",
    most: 50_000,
    used: ({ transactionsPerSecond }) => transactionsPerSecond,
    advice: `a disk with a protected cache, and \`commit_delay\`, which joins more commits in one wait for it; then ${SEVERAL}`,
  },
  {
    name: "connections",
    unit: "connections",
    most: 500,
    used: ({ connections }) => connections,
    advice: "a pooler (PgBouncer, transaction mode); servers then look for news every 25 to 200 ms",
  },
  {
    name: "disk",
    unit: "TB",
    most: 4,
    used: ({ keptBytes }) => keptBytes / 1e12,
    advice: `keep responses for fewer days; then ${SEVERAL}. Tables are not partitioned by tenant`,
  },
];

export interface Headroom {
  readonly limit: Limit;
  readonly used: number;
  /** The load in responses a second that reaches it. */
  readonly reachedAt: number;
}

/** The limit that is reached first comes first. */
export function toHeadroom(costs: Costs, load: ModelLoad): Headroom[] {
  const all = LIMITS.map((limit) => ({
    limit,
    used: limit.used(toNeeds(costs, load)),
    reachedAt: findReached(limit, costs, load),
  }));
  return all.sort((a, b) => a.reachedAt - b.reachedAt);
}

/** More than any load: a limit that is not reached here does not exist. */
const MOST_RATE = 1e9;

/** By bisection, because replicas are whole numbers. */
function findReached(limit: Limit, costs: Costs, load: ModelLoad): number {
  const usedAt = (responsesPerSecond: number): number =>
    limit.used(toNeeds(costs, { ...load, responsesPerSecond }));
  let below = 0;
  let above = 1;
  while (usedAt(above) < limit.most && above < MOST_RATE) above *= 2;
  while (above - below > above / 1000) {
    const middle = (below + above) / 2;
    if (usedAt(middle) < limit.most) below = middle;
    else above = middle;
  }
  return above;
}
