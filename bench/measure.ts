/**
 * How every bench measures: contenders take turns (A B A B …), so that a busy machine slows all of them equally, and
 * the result is the ratio of two contenders of one run. Absolute times depend on the machine and are shown for
 * orientation only.
 */

export interface Contender {
  readonly name: string;
  /** Does the work once and returns its cost, in the unit of the table. */
  measure(): number | Promise<number>;
}

export interface Limit {
  readonly subject: string;
  readonly baseline: string;
  /** The most that the subject may cost, as a multiple of the baseline. */
  readonly atMost: number;
}

/** One table: the contenders, the unit, and what must hold between them. */
export interface Comparison {
  readonly title: string;
  readonly unit: string;
  readonly rounds: number;
  readonly contenders: readonly Contender[];
  readonly limits: readonly Limit[];
}

/** How far a ratio may exceed its limit before `--check` fails: one run differs from the next. */
const SLACK = 0.15;

/** Runs and prints the comparisons; with `--check`, a limit exceeded by more than the slack sets exit code 1. */
export async function runBench(comparisons: readonly Comparison[]): Promise<void> {
  let isWithin = true;
  for (const comparison of comparisons) {
    const samples = await takeTurns(comparison);
    isWithin = print(comparison, samples) && isWithin;
  }
  if (!isWithin && process.argv.includes("--check")) process.exitCode = 1;
}

/** CPU time of this process spent in `work`, in microseconds; the collector's threads count too. */
export function measureCpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

type Samples = ReadonlyMap<string, readonly number[]>;

/** The first turn of each warms it up and is thrown away. */
async function takeTurns({ contenders, rounds }: Comparison): Promise<Samples> {
  const samples = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const contender of contenders) {
      const cost = await contender.measure();
      if (round > 0) samples.get(contender.name)?.push(cost);
    }
  }
  return samples;
}

/** Returns whether all limits hold, slack included. */
function print({ title, unit, limits }: Comparison, samples: Samples): boolean {
  console.log(`\n${title.padEnd(NAME_WIDTH)}${unit.padStart(12)}`);
  for (const [name, costs] of samples) printRow(name, median(costs));
  const ratios = limits.map((limit) => ({ limit, ratio: toRatio(limit, samples) }));
  for (const { limit, ratio } of ratios) {
    const { subject, baseline, atMost } = limit;
    const verdict = ratio <= atMost ? "holds" : "EXCEEDED";
    printRow(`= ${subject} / ${baseline}`, ratio, `at most ${round(atMost)}: ${verdict}`);
  }
  return ratios.every(({ limit, ratio }) => ratio <= limit.atMost * (1 + SLACK));
}

/** Of the two costs of each round, not of the two medians: runs close in time met the same load. */
function toRatio({ subject, baseline }: Limit, samples: Samples): number {
  const above = samples.get(subject) ?? [];
  const below = samples.get(baseline) ?? [];
  return median(above.map((cost, round) => cost / (below[round] ?? Number.NaN)));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

const NAME_WIDTH = 56;

function printRow(name: string, value: number, remark = ""): void {
  console.log(
    `  ${name.padEnd(NAME_WIDTH - 2)}${value.toFixed(2).padStart(12)}  ${remark}`.trimEnd(),
  );
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}
