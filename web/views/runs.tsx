/**
 * All runs, the newest first. Filters are in the address; a page is loaded when its rows come into view.
 */

import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { address, go, toHref } from "../core/address.ts";
import { get } from "../core/api.ts";
import { now, useClock } from "../core/clock.ts";
import { plural, toCost, toCount, toDuration, toExactTime, toTime } from "../core/format.ts";
import { joinNewest } from "../core/join-newest.ts";
import { moveByKeys } from "../core/move-by-keys.ts";
import { isNarrow } from "../core/narrow.ts";
import { runNews, watchProblem } from "../core/news.ts";
import { session } from "../core/session.ts";
import type { ViewProps } from "../core/view-props.ts";
import type { RecordPage, RunView as Run } from "../core/views.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty, Problem, ViewHead } from "../parts/loaded.tsx";
import { Status, stateOf } from "../parts/status.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { RunView } from "./run.tsx";
import { RunFilters } from "./run-filters.tsx";

const ROW_HEIGHT = 36;
const NARROW_HEIGHT = 56;
const PAGE = 100;
/** How often a lost connection is tried again. */
const AGAIN_MS = 3000;

export function RunsView({ rest }: ViewProps) {
  const [id] = rest;
  return id ? <RunView key={id} id={id} /> : <AllRuns />;
}

function AllRuns() {
  const filters = toFilters(address.value.query);
  return (
    <div class="view">
      <ViewHead title="Runs" />
      <RunFilters filters={filters} />
      {watchProblem.value !== "" && (
        <p class="notice warn" role="status">
          <Icon name="alert" /> Not live: {watchProblem.value}
        </p>
      )}
      <RunList key={JSON.stringify(filters)} filters={filters} />
    </div>
  );
}

export type Filters = Readonly<Record<string, string>>;

function toFilters(query: URLSearchParams): Filters {
  return Object.fromEntries([...query].filter(([, value]) => value !== ""));
}

export function RunList({ filters }: { readonly filters: Filters }) {
  const { rows, isWhole, problem, more, reload } = useRuns(filters);
  const active = useSignal(0);
  useClock(rows.value.some(({ status }) => status !== "ended"));
  const onWindow = useCallback(
    (_: number, last: number) => void (last > rows.value.length - 20 && more()),
    [rows, more],
  );
  return (
    <>
      {problem.value !== "" && <Problem text={problem.value} again={reload} />}
      {rows.value.length === 0 ? (
        <NoRuns isWhole={isWhole.value} isFiltered={Object.keys(filters).length > 0} />
      ) : (
        <>
          <RowHead />
          <VirtualList
            label="Runs"
            count={rows.value.length}
            rowHeight={isNarrow.value ? NARROW_HEIGHT : ROW_HEIGHT}
            active={active}
            onWindow={onWindow}
            onKey={(event) =>
              moveByKeys(event, active, rows.value.length, (at) => openRun(rows.value[at]))
            }
            row={(index) => {
              const run = rows.value[index];
              return run && <RunRow key={run.id} run={run} isActive={index === active.value} />;
            }}
          />
          <p class="quiet small-note" aria-live="polite">
            {plural(rows.value.length, "run")}
            {isWhole.value ? "" : ", more below"}
          </p>
        </>
      )}
    </>
  );
}

function NoRuns({
  isWhole,
  isFiltered,
}: {
  readonly isWhole: boolean;
  readonly isFiltered: boolean;
}) {
  if (!isWhole) return <p class="loading">Loading…</p>;
  return (
    <Empty title="No runs here." icon="run">
      {isFiltered ? (
        <button type="button" onClick={() => go("runs", { replace: true })}>
          Clear the filters
        </button>
      ) : (
        <>
          Start one in the <a href={toHref("playground")}>playground</a>, or with{" "}
          <code>offshoot run "…"</code>.
        </>
      )}
    </Empty>
  );
}

function RowHead() {
  return (
    <div class="run-row head" aria-hidden="true">
      <span>State</span>
      <span>What</span>
      <span>Model</span>
      <span class="number">Tokens</span>
      <span class="number">Cost</span>
      <span class="number">Took</span>
      <span class="number">Began</span>
    </div>
  );
}

function openRun(run: Run | undefined): void {
  if (run) go(`runs/${encodeURIComponent(run.id)}`);
}

function RunRow({ run, isActive }: { readonly run: Run; readonly isActive: boolean }) {
  const { id, title, label, agent, model, totals, created_at_ms, ended_at_ms, message, questions } =
    run;
  const name = label ?? agent;
  return (
    <div role="listitem">
      <a
        class={isActive ? "run-row active" : "run-row"}
        href={toHref(`runs/${encodeURIComponent(id)}`)}
        tabIndex={-1}
        title={message || undefined}
      >
        <span class="run-state">
          <Status state={stateOf(run)} />
          {questions > 1 && <span class="badge">{questions}</span>}
        </span>
        <span class="run-title clip">
          {name && <span class="chip">{name}</span>} {title || id}
        </span>
        <span class="run-model clip quiet">{model ?? "–"}</span>
        <span class="run-tokens number">{toCount(totals.input_tokens + totals.output_tokens)}</span>
        <span class="run-cost number">{totals.calls === 0 ? "$0" : toCost(totals)}</span>
        <span class="run-took number">
          {toDuration(Math.max(0, (ended_at_ms ?? now.value) - created_at_ms))}
        </span>
        <span class="run-began number quiet" title={toExactTime(created_at_ms)}>
          {toTime(created_at_ms)}
        </span>
      </a>
    </div>
  );
}

/** Pages on demand; the newest page again when the server reports a change. */
function useRuns(filters: Filters) {
  const rows = useSignal<readonly Run[]>([]);
  const isWhole = useSignal(false);
  const problem = useSignal("");
  const next = useSignal<string | null | undefined>(undefined);
  const busy = useSignal(false);
  const load = useCallback(
    async (after: string | undefined): Promise<void> => {
      if (busy.peek()) return;
      busy.value = true;
      try {
        const page = await get<RecordPage<Run>>("runs", { ...filters, limit: PAGE, after });
        rows.value =
          after === undefined ? joinNewest(page.data, rows.peek()) : [...rows.peek(), ...page.data];
        if (after !== undefined || next.peek() === undefined) next.value = page.next;
        isWhole.value = next.peek() === null;
        problem.value = "";
      } catch (failure) {
        problem.value = failure instanceof Error ? failure.message : String(failure);
      } finally {
        busy.value = false;
      }
    },
    [filters, rows, next, busy, isWhole, problem],
  );
  const token = session.value?.token;
  const news = runNews.value;
  useEffect(() => {
    if (token !== undefined) void load(undefined);
  }, [load, token, news]);
  const isLost = problem.value !== "";
  useEffect(() => {
    if (!isLost) return;
    const timer = setInterval(() => session.peek() && void load(undefined), AGAIN_MS);
    return () => clearInterval(timer);
  }, [load, isLost]);
  const more = useCallback(() => {
    const after = next.peek();
    if (after) void load(after);
  }, [load, next]);
  return { rows, isWhole, problem, more, reload: () => void load(undefined) };
}
