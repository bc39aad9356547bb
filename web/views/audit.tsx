/** The audit: who changed what, and who was refused. It has no word of a prompt. */

import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { address, refine } from "../core/address.ts";
import { get, messageOf } from "../core/api.ts";
import { toExactTime, toTime } from "../core/format.ts";
import { session } from "../core/session.ts";
import type { AuditView as Entry, RecordPage } from "../core/views.ts";
import { Empty, Problem, ViewHead } from "../parts/loaded.tsx";
import { Choice } from "./run-filters.tsx";

const FIELDS = [
  ["key", "any key"],
  ["tenant", "any tenant"],
] as const;

export function AuditView() {
  const { query } = address.value;
  const filters = Object.fromEntries(
    ["search", "key", "tenant", "status"].map((name) => [name, query.get(name) ?? ""]),
  );
  return (
    <div class="view">
      <ViewHead
        title="Audit"
        about="Requests that changed something, and those that were refused."
      />
      <div class="filters">
        <input
          type="search"
          aria-label="Search actions"
          placeholder="Search actions, as /v1/files"
          value={filters["search"]}
          onChange={(event) => refine({ search: event.currentTarget.value })}
        />
        <Choice
          name="status"
          label="Status"
          value={filters["status"]}
          words={["2xx", "4xx", "5xx"]}
        />
        {FIELDS.map(([name, hint]) => (
          <input
            key={name}
            type="text"
            aria-label={name}
            placeholder={hint}
            value={filters[name]}
            onChange={(event) => refine({ [name]: event.currentTarget.value })}
          />
        ))}
      </div>
      <Entries key={JSON.stringify(filters)} filters={filters} />
    </div>
  );
}

function Entries({ filters }: { readonly filters: Readonly<Record<string, string>> }) {
  const entries = useSignal<readonly Entry[]>([]);
  const next = useSignal<string | null | undefined>(undefined);
  const problem = useSignal("");
  const token = session.value?.token;
  const more = useCallback(async (): Promise<void> => {
    try {
      const page = await get<RecordPage<Entry>>("admin/audit", {
        ...filters,
        limit: 100,
        after: next.peek(),
      });
      entries.value = [...entries.peek(), ...page.data];
      next.value = page.next;
      problem.value = "";
    } catch (failure) {
      problem.value = messageOf(failure);
    }
  }, [filters, entries, next, problem]);
  useEffect(() => {
    if (token !== undefined && entries.peek().length === 0) void more();
  }, [more, token, entries]);
  if (next.value === null && entries.value.length === 0) {
    return <Empty title="No entries here." icon="audit" />;
  }
  return (
    <>
      {problem.value !== "" && <Problem text={problem.value} again={() => void more()} />}
      {entries.value.length > 0 && <EntryTable entries={entries.value} />}
      {next.value === undefined && problem.value === "" && <p class="loading">Loading…</p>}
      {typeof next.value === "string" && (
        <button type="button" onClick={() => void more()}>
          Older entries
        </button>
      )}
    </>
  );
}

function EntryTable({ entries }: { readonly entries: readonly Entry[] }) {
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>When</th>
            <th>Status</th>
            <th>Action</th>
            <th>About</th>
            <th>Key</th>
            <th>Tenant</th>
            <th>From</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td title={toExactTime(entry.at_ms)}>{toTime(entry.at_ms)}</td>
              <td>
                <span class={entry.status < 400 ? "chip good" : "chip bad"}>{entry.status}</span>
              </td>
              <td class="mono">{entry.action}</td>
              <td class="mono quiet">{entry.target ?? "–"}</td>
              <td class="mono quiet">{entry.key_id ?? "none"}</td>
              <td>{entry.tenant || "–"}</td>
              <td class="quiet">{entry.address ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
