/** Tenants: the storage of each and its limit, its keys, and its use. */

import { toHref } from "../core/address.ts";
import { get } from "../core/api.ts";
import { toBytes, toCount, toMoney } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import type { RecordPage, TenantView, UsageView } from "../core/views.ts";
import { Empty, Loaded, ViewHead } from "../parts/loaded.tsx";
import { Meter } from "../parts/meter.tsx";

/** Marks that connect runs with their sessions: part of both, and nothing that a person has made. */
const MARKS: ReadonlySet<string> = new Set(["session_run", "session_next", "session_unkept"]);

/** The record counts up to this number. */
const MOST_COUNTED = 10_000;

export function TenantsView() {
  const tenants = useResource("tenants", async (stop) => {
    const [page, usage] = await Promise.all([
      get<RecordPage<TenantView>>("admin/tenants", {}, stop),
      get<UsageView>("usage", { by: "tenant", daily: false }, stop),
    ]);
    return { data: page.data, used: new Map(usage.data.map((row) => [row.key, row])) };
  });
  return (
    <div class="view">
      <ViewHead
        title="Tenants"
        about="Storage by tenant. No tenant sees the data of another one."
      />
      <Loaded of={tenants}>
        {({ data, used }) =>
          data.length === 0 ? (
            <Empty title="No tenant has anything yet." icon="people" />
          ) : (
            <div class="table" tabIndex={0}>
              <table>
                <thead>
                  <tr>
                    <th>Tenant</th>
                    <th>Storage</th>
                    <th>Stored objects</th>
                    <th class="number">Keys</th>
                    <th class="number">Cost, 30 days</th>
                  </tr>
                </thead>
                <tbody>
                  {data.map((tenant) => (
                    <tr key={tenant.id}>
                      <td>
                        <a href={toHref(`runs?tenant=${encodeURIComponent(tenant.id)}`)}>
                          {tenant.id}
                        </a>
                      </td>
                      <td class="wide">
                        <Storage tenant={tenant} />
                      </td>
                      <td class="wide">
                        <Counts counts={tenant.counts} />
                      </td>
                      <td class="number">
                        <a href={toHref(`keys?tenant=${encodeURIComponent(tenant.id)}`)}>
                          {tenant.keys}
                        </a>
                      </td>
                      <td class="number">{toMoney(used.get(tenant.id)?.known_usd ?? 0)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </div>
  );
}

function Storage({ tenant: { bytes, storage_bytes } }: { readonly tenant: TenantView }) {
  if (storage_bytes === null) return <>{toBytes(bytes)}, no limit</>;
  return <Meter name="Kept" used={bytes} limit={storage_bytes} format={toBytes} />;
}

function Counts({ counts }: { readonly counts: TenantView["counts"] }) {
  const rows = Object.entries(counts)
    .filter(([kind]) => !MARKS.has(kind))
    .sort(([, a], [, b]) => b - a);
  return (
    <span class="row tight">
      {rows.map(([kind, count]) => (
        <span key={kind} class="chip">
          {kind.replaceAll("_", " ").replaceAll(".", " ")} {toCount(count)}
          {count >= MOST_COUNTED ? "+" : ""}
        </span>
      ))}
    </span>
  );
}
