/**
 * Turns rows of the roll-up into series of a chart: one value for each day; the largest series separately. Pure.
 */

import type { UsageRowView } from "./views.ts";

const DAY_MS = 86_400_000;
/** As many series as there are colours. */
export const MOST_SERIES = 8;

export interface Series {
  readonly name: string;
  /** One value for each label. */
  readonly values: readonly number[];
}

/** The largest separately, all others as one. */
export function toSeries(
  rows: readonly UsageRowView[],
  days: readonly string[],
  of: (row: UsageRowView) => number,
): Series[] {
  const places = new Map(days.map((day, at) => [day, at]));
  const sums = new Map<string, number[]>();
  for (const row of rows) {
    const values = sums.get(row.key ?? "none") ?? days.map(() => 0);
    const at = places.get(row.day ?? "") ?? -1;
    if (at >= 0) values[at] = (values[at] ?? 0) + of(row);
    sums.set(row.key ?? "none", values);
  }
  const total = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  const all = [...sums]
    .map(([name, values]) => ({ name, values }))
    .sort((a, b) => total(b.values) - total(a.values));
  const rest = all.slice(MOST_SERIES - 1);
  if (rest.length < 2) return all;
  const other = days.map((_, at) => rest.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  return [...all.slice(0, MOST_SERIES - 1), { name: `${rest.length} others`, values: other }];
}

export function toDays(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to) && days.length < 400; at += DAY_MS)
    days.push(toDay(at));
  return days;
}

export function toDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
