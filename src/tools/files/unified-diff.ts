/** The changes of a text as a unified diff, with three lines around each place. */

const AROUND = 3;
/** With more pairs of lines than this, the middle is shown as replaced as a whole. */
const MAX_PAIRS = 4_000_000;

/** Empty if nothing changed. */
export function toUnifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return "";
  const steps = compare(splitLines(before), splitLines(after));
  const hunks = toHunks(steps);
  return [`--- a/${path}`, `+++ b/${path}`, ...hunks.flatMap(toText)].join("\n");
}

/** One line of the result: kept, removed or added. */
interface Step {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** Splits lines. A missing end of the last line is marked, because it may be the only change. */
function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function compare(before: readonly string[], after: readonly string[]): Step[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const keep = (text: string): Step => ({ sign: " ", text });
  return [
    ...before.slice(0, start).map(keep),
    ...compareMiddles(
      before.slice(start, before.length - end),
      after.slice(start, after.length - end),
    ),
    ...before.slice(before.length - end).map(keep),
  ];
}

/** Compares by the longest common subsequence. */
function compareMiddles(before: readonly string[], after: readonly string[]): Step[] {
  if (before.length * after.length > MAX_PAIRS) return replaceAll(before, after);
  const left = measureLeft(before, after);
  const steps: Step[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length && column < after.length) {
    const text = before[row] ?? "";
    if (text === after[column]) {
      steps.push({ sign: " ", text });
      row++;
      column++;
    } else if (left(row + 1, column) >= left(row, column + 1)) {
      steps.push({ sign: "-", text });
      row++;
    } else steps.push({ sign: "+", text: after[column++] ?? "" });
  }
  return [...steps, ...replaceAll(before.slice(row), after.slice(column))];
}

/** The number of common lines of the rests of both texts, from any two positions. */
function measureLeft(
  before: readonly string[],
  after: readonly string[],
): (row: number, column: number) => number {
  const width = after.length + 1;
  const table = new Uint32Array((before.length + 1) * width);
  const left = (row: number, column: number): number => table[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      table[row * width + column] =
        before[row] === after[column]
          ? left(row + 1, column + 1) + 1
          : Math.max(left(row + 1, column), left(row, column + 1));
    }
  }
  return left;
}

function replaceAll(before: readonly string[], after: readonly string[]): Step[] {
  return [
    ...before.map((text): Step => ({ sign: "-", text })),
    ...after.map((text): Step => ({ sign: "+", text })),
  ];
}

interface Hunk {
  /** Line numbers of its first step in both texts, from 1. */
  readonly before: number;
  readonly after: number;
  readonly steps: Step[];
}

/** Changes whose surrounding lines touch share a hunk. */
function toHunks(steps: readonly Step[]): Hunk[] {
  const hunks: Hunk[] = [];
  let before = 1;
  let after = 1;
  let kept = Number.POSITIVE_INFINITY;
  for (const [at, step] of steps.entries()) {
    let hunk = hunks.at(-1);
    if (step.sign !== " ") {
      if (!hunk || kept > 2 * AROUND) {
        const lead = steps.slice(Math.max(0, at - AROUND), at);
        hunk = { before: before - lead.length, after: after - lead.length, steps: [...lead] };
        hunks.push(hunk);
      } else hunk.steps.push(...steps.slice(at - Math.max(0, kept - AROUND), at));
      hunk.steps.push(step);
      kept = 0;
    } else if (++kept <= AROUND) hunk?.steps.push(step);
    if (step.sign !== "+") before++;
    if (step.sign !== "-") after++;
  }
  return hunks;
}

function toText({ before, after, steps }: Hunk): string[] {
  const range = (start: number, without: Step["sign"]): string => {
    const count = steps.filter(({ sign }) => sign !== without).length;
    return `${count === 0 ? start - 1 : start}${count === 1 ? "" : `,${count}`}`;
  };
  const head = `@@ -${range(before, "+")} +${range(after, "-")} @@`;
  return [head, ...steps.map(({ sign, text }) => sign + text)];
}
