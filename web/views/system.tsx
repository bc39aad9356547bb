/** The server itself: its processes, its queues, its settings, and the results of the doctor. */

import { useSignal } from "@preact/signals";
import { address, toHref } from "../core/address.ts";
import { get } from "../core/api.ts";
import { toAgo, toBytes, toCount, toDuration } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import type {
  CheckView,
  QueueView,
  RecordPage,
  SettingView,
  SystemView as System,
} from "../core/views.ts";
import { Empty, Loaded, Section, ViewHead } from "../parts/loaded.tsx";
import { Prose } from "../parts/prose.tsx";
import { Status } from "../parts/status.tsx";
import { Facts } from "./run/facts.tsx";

const TABS = [
  ["system", "Processes and queues"],
  ["settings", "Settings"],
  ["doctor", "Doctor"],
] as const;
const REFRESH_MS = 5000;

export function SystemView() {
  const tab = address.value.query.get("tab") ?? "system";
  return (
    <div class="view">
      <ViewHead title="System" />
      <nav class="tabs" aria-label="Parts of the system">
        {TABS.map(([name, title]) => (
          <a
            key={name}
            href={toHref(name === "system" ? "system" : `system?tab=${name}`)}
            aria-current={tab === name ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {tab === "settings" ? <Settings /> : tab === "doctor" ? <Doctor /> : <Processes />}
    </div>
  );
}

function Processes() {
  const system = useResource("system", (stop) => get<System>("admin/system", {}, stop), {
    everyMs: REFRESH_MS,
  });
  return (
    <Loaded of={system}>
      {(value) => (
        <>
          <Facts
            look=""
            of={{
              Version: value.version,
              Node: value.node,
              "Process id": String(value.pid),
              "Up for": toDuration(value.uptime_seconds * 1000),
              Memory: toBytes(value.memory.rss_bytes),
              Heap: toBytes(value.memory.heap_bytes),
            }}
          />
          <Section title="Processes that work on the record">
            <Workers workers={value.workers} pid={value.pid} />
          </Section>
          <Section title="Queues">
            <Queues queues={value.queues} />
          </Section>
        </>
      )}
    </Loaded>
  );
}

/** A process that was silent for as long as a lease may have died. */
const LEASE_MS = 10_000;

function Workers({ workers, pid }: { readonly workers: System["workers"]; readonly pid: number }) {
  if (workers.length === 0) return <Empty title="No process works on a run now." icon="system" />;
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Process</th>
            <th>Machine</th>
            <th>State</th>
            <th class="number">Runs</th>
            <th class="number">Last beat</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.id}>
              <td>
                {worker.pid} {worker.pid === pid && <span class="chip">answers you</span>}
              </td>
              <td>{worker.host}</td>
              <td>
                {worker.silent_ms <= LEASE_MS ? (
                  <span class="chip good">alive</span>
                ) : worker.runs > 0 ? (
                  <span class="chip warn">silent, its runs are taken over</span>
                ) : (
                  <span class="chip">idle or gone</span>
                )}
              </td>
              <td class="number">{toCount(worker.runs)}</td>
              <td class="number">{toAgo(Date.now() - worker.silent_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Queues({ queues }: { readonly queues: readonly QueueView[] }) {
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Queue</th>
            <th>Tenant</th>
            <th class="number">Running</th>
            <th class="number">Waiting</th>
            <th class="number">Oldest waits</th>
          </tr>
        </thead>
        <tbody>
          {queues.map((queue) => (
            <QueueRows key={queue.name} queue={queue} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function QueueRows({ queue }: { readonly queue: QueueView }) {
  const most = queue.at_once === null ? "" : ` of ${toCount(queue.at_once)}`;
  return (
    <>
      <tr>
        <th scope="row">{queue.name}</th>
        <td class="quiet">all</td>
        <td class="number">
          {toCount(queue.running)}
          {most}
        </td>
        <td class="number">{toCount(queue.waiting)}</td>
        <td class="number">–</td>
      </tr>
      {queue.lanes.map((lane) => (
        <tr key={lane.lane}>
          <td />
          <td>{lane.lane}</td>
          <td class="number">{toCount(lane.running)}</td>
          <td class="number">{toCount(lane.waiting)}</td>
          <td class="number">{lane.oldest_at_ms === null ? "–" : toAgo(lane.oldest_at_ms)}</td>
        </tr>
      ))}
    </>
  );
}

function Settings() {
  const settings = useResource("settings", (stop) =>
    get<RecordPage<SettingView>>("admin/settings", {}, stop),
  );
  const search = useSignal("");
  const onlySet = useSignal(false);
  return (
    <>
      <div class="filters">
        <input
          type="search"
          aria-label="Search settings"
          placeholder="Search settings"
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={onlySet.value}
            onChange={() => {
              onlySet.value = !onlySet.value;
            }}
          />
          Only what was set
        </label>
      </div>
      <Loaded of={settings}>
        {({ data }) => (
          <SettingTable
            data={data.filter(
              ({ name, source, summary }) =>
                `${name} ${summary}`.toLowerCase().includes(search.value.toLowerCase()) &&
                !(onlySet.value && source === "default"),
            )}
          />
        )}
      </Loaded>
    </>
  );
}

function SettingTable({ data }: { readonly data: readonly SettingView[] }) {
  if (data.length === 0) return <Empty title="No setting has this name." icon="gear" />;
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Setting</th>
            <th>Value</th>
            <th>From</th>
          </tr>
        </thead>
        <tbody>
          {data.map(({ name, value, source, summary }) => (
            <tr key={name}>
              <td class="wide">
                <b class="mono">{name}</b>
                <br />
                <span class="quiet">
                  <Prose text={summary} />
                </span>
              </td>
              <td class="mono value">{value === null ? "–" : toShown(value)}</td>
              <td class="quiet">{source}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function toShown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const STATES = { ok: "completed", gap: "refused", broken: "failed" } as const;

function Doctor() {
  const checks = useResource("doctor", (stop) =>
    get<RecordPage<CheckView>>("admin/doctor", {}, stop),
  );
  return (
    <>
      <div class="row">
        <button type="button" disabled={checks.loading.value} onClick={() => checks.reload()}>
          {checks.loading.value ? "Checking…" : "Check again"}
        </button>
      </div>
      <Loaded of={checks}>
        {({ data }) => (
          <div class="table" tabIndex={0}>
            <table>
              <tbody>
                {data.map(({ name, status, found, advice }, at) => (
                  <tr key={at}>
                    <td>
                      <Status state={STATES[status]} brief />
                    </td>
                    <th scope="row">{name}</th>
                    <td class="wide">
                      <Prose text={found} />
                      {advice && (
                        <>
                          <br />
                          <span class="quiet">
                            <Prose text={advice} />
                          </span>
                        </>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </>
  );
}
