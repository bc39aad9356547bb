/** All runs, the newest first. Filters are in the address; a page is asked for when its rows come into view. */

import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { address, go, refine, toHref } from "../core/address.ts";
import { get } from "../core/api.ts";
import { toCost, toCount, toDuration, toExactTime, toTime } from "../core/format.ts";
import { joinNewest } from "../core/join-newest.ts";
import { moveByKeys } from "../core/move-by-keys.ts";
import { session } from "../core/session.ts";
import type { ViewProps } from "../core/view-props.ts";
import type { Page, RunView as Run } from "../core/views.ts";
import { Empty } from "../parts/loaded.tsx";
import { Status, stateOf } from "../parts/status.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { RunView } from "./run.tsx";

const ROW_HEIGHT = 34;
const PAGE = 100;
/** A list that is looked at stays fresh without a reload; only the first page is asked for again. */
const REFRESH_MS = 3000;

/** One choice: a run that has ended is found by how, as the API has it. */
const STATES = [
  "running",
  "waiting",
  "ended",
  "completed",
  "failed",
  "refused",
  "cancelled",
  "budget",
  "timeout",
  "max_turns",
] as const;
/** The filters, in the order of the form, with what stands in an empty field. */
const FIELDS = [
  ["model", "any model"],
  ["agent", "any agent"],
  ["key", "any key"],
  ["session", "any session"],
  ["folder", "any folder"],
] as const;

export function RunsView({ rest }: ViewProps) {
  const [id] = rest;
  return id ? <RunView key={id} id={id} /> : <AllRuns />;
}

function AllRuns() {
  const filters = toFilters(address.value.query);
  return (
    <div class="view">
      <header>
        <h1>Runs</h1>
      </header>
      <Filters filters={filters} />
      <RunList key={JSON.stringify(filters)} filters={filters} />
    </div>
  );
}

export type RunFilters = Readonly<Record<string, string>>;

function toFilters(query: URLSearchParams): RunFilters {
  return Object.fromEntries([...query].filter(([, value]) => value !== ""));
}

function Filters({ filters }: { readonly filters: RunFilters }) {
  const more = useSignal(
    FIELDS.some(([name]) => filters[name]) || Boolean(filters["from"] ?? filters["to"]),
  );
  return (
    <search class="filters">
      <input
        type="search"
        aria-label="Search titles and ids"
        placeholder="Search titles and ids ( / )"
        value={filters["search"] ?? ""}
        onChange={(event) => refine({ search: event.currentTarget.value })}
      />
      <Choice name="status" label="State" value={filters["status"]} words={STATES} />
      {more.value ? (
        <>
          {FIELDS.map(([name, hint]) => (
            <input
              key={name}
              type="text"
              aria-label={name}
              placeholder={hint}
              value={filters[name] ?? ""}
              onChange={(event) => refine({ [name]: event.currentTarget.value })}
            />
          ))}
          {["from", "to"].map((name) => (
            <input
              key={name}
              type="date"
              aria-label={`${name} day`}
              value={filters[name] ?? ""}
              onChange={(event) => refine({ [name]: event.currentTarget.value })}
            />
          ))}
        </>
      ) : (
        <button
          type="button"
          onClick={() => {
            more.value = true;
          }}
        >
          More filters
        </button>
      )}
      {Object.keys(filters).length > 0 && (
        <button type="button" class="link" onClick={() => go("runs", { replace: true })}>
          Clear
        </button>
      )}
    </search>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly words: readonly string[];
}

function Choice({ name, label, value = "", words }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => refine({ [name]: event.currentTarget.value })}
    >
      <option value="">{label}: any</option>
      {words.map((word) => (
        <option key={word} value={word}>
          {word.replaceAll("_", " ")}
        </option>
      ))}
    </select>
  );
}

export function RunList({ filters }: { readonly filters: RunFilters }) {
  const { rows, isWhole, problem, more, reload } = useRuns(filters);
  const active = useSignal(0);
  const onWindow = useCallback(
    (_: number, last: number) => void (last > rows.value.length - 20 && more()),
    [rows, more],
  );
  if (problem.value !== "") {
    return (
      <p class="problem" role="alert">
        {problem.value}{" "}
        <button type="button" onClick={reload}>
          Try again
        </button>
      </p>
    );
  }
  if (rows.value.length === 0) {
    if (!isWhole.value) return <p class="quiet loading">Loading…</p>;
    return (
      <Empty title="No runs here.">
        Start one in the <a href={toHref("playground")}>playground</a>, or with{" "}
        <code>offshoot run "…"</code>.
      </Empty>
    );
  }
  return (
    <>
      <div class="run-row head" aria-hidden="true">
        <span>State</span>
        <span>What</span>
        <span>Model</span>
        <span class="number">Tokens</span>
        <span class="number">Cost</span>
        <span class="number">Took</span>
        <span class="number">Began</span>
      </div>
      <VirtualList
        label="Runs"
        count={rows.value.length}
        rowHeight={ROW_HEIGHT}
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
        {rows.value.length} {rows.value.length === 1 ? "run" : "runs"}
        {isWhole.value ? "" : ", more below"}
      </p>
    </>
  );
}

function openRun(run: Run | undefined): void {
  if (run) go(`runs/${encodeURIComponent(run.id)}`);
}

function RunRow({ run, isActive }: { readonly run: Run; readonly isActive: boolean }) {
  const { id, title, label, agent, model, totals, created_at_ms, ended_at_ms, message, questions } =
    run;
  const name = [label ?? agent, title].filter(Boolean).join(": ");
  return (
    <div role="listitem">
      <a
        class={isActive ? "run-row active" : "run-row"}
        href={toHref(`runs/${encodeURIComponent(id)}`)}
        tabIndex={-1}
        title={message || id}
      >
        <span>
          <Status state={stateOf(run)} />
          {questions > 0 && <span class="badge">{questions}</span>}
        </span>
        <span class="clip">{name || id}</span>
        <span class="clip quiet">{model ?? "–"}</span>
        <span class="number">{toCount(totals.input_tokens + totals.output_tokens)}</span>
        <span class="number">{totals.calls === 0 ? "$0" : toCost(totals)}</span>
        <span class="number">{toDuration((ended_at_ms ?? Date.now()) - created_at_ms)}</span>
        <span class="number quiet" title={toExactTime(created_at_ms)}>
          {toTime(created_at_ms)}
        </span>
      </a>
    </div>
  );
}

/** Pages as they are needed; the newest page again every few seconds, joined by id. */
function useRuns(filters: RunFilters) {
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
        const page = await get<Page<Run>>("runs", { ...filters, limit: PAGE, after });
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
  useEffect(() => {
    if (token === undefined) return;
    void load(undefined);
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void load(undefined);
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [load, token]);
  const more = useCallback(() => {
    const after = next.peek();
    if (after) void load(after);
  }, [load, next]);
  return { rows, isWhole, problem, more, reload: () => void load(undefined) };
}
