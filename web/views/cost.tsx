/** Cost and tokens over time, by model, agent, key or tenant. From the roll-up alone. */

import { address, refine } from "../core/address.ts";
import { get } from "../core/api.ts";
import { toCount, toMoney } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import { toDay, toDays, toSeries } from "../core/series.ts";
import type { UsageRowView, UsageView } from "../core/views.ts";
import { StackedBars } from "../parts/chart.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";

const BY = ["model", "agent", "key", "tenant"] as const;
const DAYS = [7, 30, 90] as const;
const DAY_MS = 86_400_000;

export function CostView() {
  const { query } = address.value;
  const by = query.get("by") ?? "model";
  const days = Number(query.get("days") ?? 30);
  const from = toDay(Date.now() - (days - 1) * DAY_MS);
  const usage = useResource(`${by} ${from}`, (stop) =>
    get<UsageView>("usage", { by, from, daily: true }, stop),
  );
  return (
    <div class="view">
      <header>
        <h1>Cost</h1>
        <div class="filters">
          <select
            aria-label="By"
            value={by}
            onChange={(event) => refine({ by: event.currentTarget.value })}
          >
            {BY.map((word) => (
              <option key={word} value={word}>
                by {word}
              </option>
            ))}
          </select>
          <select
            aria-label="Window"
            value={String(days)}
            onChange={(event) => refine({ days: event.currentTarget.value })}
          >
            {DAYS.map((count) => (
              <option key={count} value={String(count)}>
                {count} days
              </option>
            ))}
          </select>
        </div>
      </header>
      <Loaded of={usage}>
        {(value) =>
          value.data.length === 0 ? (
            <Empty title="Nothing was used in these days." />
          ) : (
            <Usage value={value} />
          )
        }
      </Loaded>
    </div>
  );
}

function Usage({ value }: { readonly value: UsageView }) {
  const labels = toDays(value.from, value.to);
  const money = toSeries(value.data, labels, ({ known_usd }) => known_usd);
  const tokens = toSeries(
    value.data,
    labels,
    ({ input_tokens, output_tokens }) => input_tokens + output_tokens,
  );
  const short = labels.map((day) => day.slice(5));
  return (
    <>
      <div class="panel">
        <div class="body">
          <StackedBars title="Dollars" labels={short} series={money} format={toMoney} />
        </div>
      </div>
      <div class="panel">
        <div class="body">
          <StackedBars title="Tokens" labels={short} series={tokens} format={toCount} />
        </div>
      </div>
      <UsageTable rows={value.data} by={value.by} />
    </>
  );
}

function UsageTable({ rows, by }: { readonly rows: readonly UsageRowView[]; readonly by: string }) {
  const sums = new Map<
    string,
    { calls: number; input: number; cached: number; output: number; usd: number; unpriced: number }
  >();
  for (const row of rows) {
    const key = row.key ?? "none";
    const sum = sums.get(key) ?? { calls: 0, input: 0, cached: 0, output: 0, usd: 0, unpriced: 0 };
    sum.calls += row.calls;
    sum.input += row.input_tokens;
    sum.cached += row.cached_tokens;
    sum.output += row.output_tokens;
    sum.usd += row.known_usd;
    sum.unpriced += row.unpriced_calls;
    sums.set(key, sum);
  }
  return (
    <div class="scrolls" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>{by}</th>
            {["Calls", "Tokens in", "Of these cached", "Tokens out", "Cost"].map((name) => (
              <th key={name} class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...sums]
            .sort(([, a], [, b]) => b.usd - a.usd || b.calls - a.calls)
            .map(([key, sum]) => (
              <tr key={key}>
                <td>{key}</td>
                <td class="number">{toCount(sum.calls)}</td>
                <td class="number">{toCount(sum.input)}</td>
                <td class="number">{toCount(sum.cached)}</td>
                <td class="number">{toCount(sum.output)}</td>
                <td class="number">
                  {toMoney(sum.usd)}
                  {sum.unpriced > 0 && (
                    <span class="quiet"> + {toCount(sum.unpriced)} calls of unknown price</span>
                  )}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
