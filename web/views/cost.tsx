/** Cost and tokens over time, by model, agent, key or tenant. All figures come from the roll-up. */

import { address, refine, toHref } from "../core/address.ts";
import { get } from "../core/api.ts";
import { toCount, toMoney } from "../core/format.ts";
import { runNews } from "../core/news.ts";
import { useResource } from "../core/resource.ts";
import { toDay, toDays, toSeries } from "../core/series.ts";
import type { UsageView } from "../core/views.ts";
import { StackedBars } from "../parts/chart.tsx";
import { Empty, Loaded, ViewHead } from "../parts/loaded.tsx";
import { Facts } from "./run/facts.tsx";
import { UsageTable } from "./usage-table.tsx";

const BY = ["model", "agent", "key", "tenant"] as const;
const DAYS = [7, 30, 90] as const;
const DAY_MS = 86_400_000;

export function CostView() {
  const { query } = address.value;
  const by = BY.find((one) => one === query.get("by")) ?? "model";
  const days = DAYS.find((one) => String(one) === query.get("days")) ?? 30;
  const from = toDay(Date.now() - (days - 1) * DAY_MS);
  const usage = useResource(
    `${by} ${from}`,
    (stop) => get<UsageView>("usage", { by, from, daily: true }, stop),
    { news: runNews.value },
  );
  return (
    <div class="view">
      <ViewHead title="Cost" about="Usage of model calls, with one row for each call.">
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
      </ViewHead>
      <Loaded of={usage}>
        {(value) =>
          value.data.length === 0 ? (
            <Empty title="Nothing was used in these days." icon="dollar" />
          ) : (
            <Usage value={value} />
          )
        }
      </Loaded>
    </div>
  );
}

/** The list of runs for a key of the sum. */
const FILTERS: Readonly<Record<string, string>> = {
  model: "model",
  agent: "agent",
  key: "key",
  tenant: "tenant",
};

function Usage({ value }: { readonly value: UsageView }) {
  const { data, by } = value;
  const labels = toDays(value.from, value.to);
  const money = toSeries(data, labels, ({ known_usd }) => known_usd);
  const tokens = toSeries(data, labels, (row) => row.input_tokens + row.output_tokens);
  const short = labels.map((day) => day.slice(5));
  const sum = (of: (row: (typeof data)[number]) => number): number =>
    data.reduce((total, row) => total + of(row), 0);
  const cached = sum((row) => row.cached_tokens);
  const input = sum((row) => row.input_tokens);
  return (
    <>
      <Facts
        look=""
        of={{
          Cost: toMoney(sum((row) => row.known_usd)),
          "Calls without a price": toCount(sum((row) => row.unpriced_calls)),
          "Model calls": toCount(sum((row) => row.calls)),
          "Tokens in": toCount(input),
          "Of these cached": input > 0 ? `${Math.round((cached / input) * 100)} %` : "–",
          "Tokens out": toCount(sum((row) => row.output_tokens)),
        }}
      />
      <div class="columns">
        <div class="panel">
          <div class="body">
            <StackedBars title="Cost" labels={short} series={money} format={toMoney} />
          </div>
        </div>
        <div class="panel">
          <div class="body">
            <StackedBars title="Tokens" labels={short} series={tokens} format={toCount} />
          </div>
        </div>
      </div>
      <UsageTable
        rows={data}
        by={by}
        hrefOf={(key) =>
          FILTERS[by] ? toHref(`runs?${FILTERS[by]}=${encodeURIComponent(key)}`) : undefined
        }
      />
    </>
  );
}
