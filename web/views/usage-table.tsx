/** Rows of the roll-up as a table: added up by key, the most expensive first. */

import { toCount, toMoney } from "../core/format.ts";
import type { UsageRowView } from "../core/views.ts";

interface UsageTableProps {
  readonly rows: readonly UsageRowView[];
  readonly by: string;
  /** The text for rows without a key. */
  readonly none?: string;
  /** The link of a key; none when left out. */
  readonly hrefOf?: (key: string) => string | undefined;
}

interface Sum {
  calls: number;
  input: number;
  cached: number;
  output: number;
  usd: number;
  unpriced: number;
}

export function UsageTable({ rows, by, none = "none", hrefOf }: UsageTableProps) {
  const sums = toSums(rows);
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>{by[0]?.toUpperCase() + by.slice(1)}</th>
            {["Calls", "Tokens in", "Cached", "Tokens out", "Cost"].map((name) => (
              <th key={name} class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sums.map(([key, sum]) => {
            const href = key === null ? undefined : hrefOf?.(key);
            return (
              <tr key={key}>
                <td>
                  {href ? <a href={href}>{key}</a> : (key ?? <span class="quiet">{none}</span>)}
                </td>
                <td class="number">{toCount(sum.calls)}</td>
                <td class="number">{toCount(sum.input)}</td>
                <td class="number">{toCount(sum.cached)}</td>
                <td class="number">{toCount(sum.output)}</td>
                <td class="number">
                  {sum.unpriced > 0 && sum.usd === 0 ? "unknown" : toMoney(sum.usd)}
                  {sum.unpriced > 0 && sum.usd > 0 && (
                    <span class="quiet"> + {toCount(sum.unpriced)} unpriced</span>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function toSums(rows: readonly UsageRowView[]): [string | null, Sum][] {
  const sums = new Map<string | null, Sum>();
  for (const row of rows) {
    const sum = sums.get(row.key) ?? {
      calls: 0,
      input: 0,
      cached: 0,
      output: 0,
      usd: 0,
      unpriced: 0,
    };
    sum.calls += row.calls;
    sum.input += row.input_tokens;
    sum.cached += row.cached_tokens;
    sum.output += row.output_tokens;
    sum.usd += row.known_usd;
    sum.unpriced += row.unpriced_calls;
    sums.set(row.key, sum);
  }
  return [...sums].sort(([, a], [, b]) => b.usd - a.usd || b.calls - a.calls);
}
