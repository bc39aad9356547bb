/** Limits of keys, with the used part of each. */

import { toBytes, toCount, toMoney } from "../../core/format.ts";
import type { ListedKeyView } from "../../core/views.ts";
import { Empty } from "../../parts/loaded.tsx";
import { Meter } from "../../parts/meter.tsx";

interface LimitRow {
  readonly label: string;
  format(value: number): string;
  /** The used amount; undefined if the list does not have it. */
  used?(key: ListedKeyView): number;
}

/** By their names in the API. */
export const LIMITS: Readonly<Record<string, LimitRow>> = {
  usd_per_day: { label: "Dollars a day", format: toMoney, used: (key) => key.used_today.usd },
  usd_total: { label: "Dollars in all", format: toMoney, used: (key) => key.used.usd },
  tokens_per_day: { label: "Tokens a day", format: toCount, used: (key) => key.used_today.tokens },
  requests_per_day: {
    label: "Requests a day",
    format: toCount,
    used: (key) => key.used_today.requests,
  },
  tokens_per_minute: { label: "Tokens a minute", format: toCount },
  requests_per_minute: { label: "Requests a minute", format: toCount },
  concurrent: { label: "Requests at once", format: toCount },
  storage_bytes: { label: "Bytes kept", format: toBytes },
};

export function Budgets({
  keys,
  open,
}: {
  readonly keys: readonly ListedKeyView[];
  open(id: string): void;
}) {
  const limited = keys.filter(
    (key) => key.state === "active" && Object.keys(key.limits).length > 0,
  );
  if (limited.length === 0) {
    return (
      <Empty title="No key has a limit." icon="limit">
        Open a key to give it one: dollars or tokens a day, requests a minute, bytes.
      </Empty>
    );
  }
  return (
    <div class="columns">
      {limited.map((key) => (
        <article key={key.id} class="panel">
          <header>
            <button type="button" class="link" onClick={() => open(key.id)}>
              {key.name}
            </button>
            <span class="quiet">{key.tenant}</span>
          </header>
          <div class="body stack tight">
            {Object.entries(key.limits).map(([name, limit]) => (
              <Limit key={name} of={key} name={name} limit={Number(limit)} />
            ))}
          </div>
        </article>
      ))}
    </div>
  );
}

interface LimitProps {
  readonly of: ListedKeyView;
  readonly name: string;
  readonly limit: number;
}

function Limit({ of, name, limit }: LimitProps) {
  const row = LIMITS[name];
  if (!row) return null;
  if (!row.used) {
    return (
      <small class="quiet">
        {row.label}: {row.format(limit)} at most
      </small>
    );
  }
  return <Meter name={row.label} used={row.used(of)} limit={limit} format={row.format} />;
}
