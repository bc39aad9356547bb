/**
 * Tools: how often each was called, failed or was denied, and how long it took; and each call that went wrong.
 */

import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { address, refine, toHref } from "../core/address.ts";
import { get, messageOf } from "../core/api.ts";
import { clip, toCount, toDuration, toPercent, toTime } from "../core/format.ts";
import { runNews } from "../core/news.ts";
import { useResource } from "../core/resource.ts";
import { session } from "../core/session.ts";
import type { FailedCallView, RecordPage, ToolsView as ToolSums } from "../core/views.ts";
import { Empty, Loaded, Problem, Section, ViewHead } from "../parts/loaded.tsx";
import { Status } from "../parts/status.tsx";
import { Choice } from "./run-filters.tsx";

export function ToolsView() {
  const tools = useResource("tools", (stop) => get<ToolSums>("usage/tools", {}, stop), {
    news: runNews.value,
  });
  const { query } = address.value;
  const tool = query.get("tool") ?? "";
  const status = query.get("status") ?? "";
  return (
    <div class="view">
      <ViewHead title="Tools" about="Calls of the last 30 days: failures, denials and time." />
      <Loaded of={tools}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No tool was called in these days." icon="tool" />
          ) : (
            <>
              <Sums data={data} picked={tool} />
              <Section
                title="Calls that failed or were denied"
                tools={
                  <>
                    <Choice
                      name="tool"
                      label="Tool"
                      value={tool}
                      words={data.map((row) => row.tool)}
                    />
                    <Choice
                      name="status"
                      label="State"
                      value={status}
                      words={["failed", "denied"]}
                    />
                  </>
                }
              >
                <Failures key={`${tool} ${status}`} tool={tool} status={status} />
              </Section>
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function Sums({ data, picked }: { readonly data: ToolSums["data"]; readonly picked: string }) {
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Tool</th>
            {["Calls", "Failed", "Denied", "Mean time", "Longest", "Last"].map((name) => (
              <th key={name} class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.map((row) => (
            <tr key={row.tool}>
              <td>
                <button
                  type="button"
                  class="link mono"
                  aria-pressed={picked === row.tool}
                  onClick={() => refine({ tool: picked === row.tool ? undefined : row.tool })}
                >
                  {row.tool}
                </button>
              </td>
              <td class="number">{toCount(row.calls)}</td>
              <td class={`number ${row.failed > 0 ? "bad" : "quiet"}`}>
                {toShare(row.failed, row.calls)}
              </td>
              <td class={`number ${row.denied > 0 ? "warn" : "quiet"}`}>
                {toShare(row.denied, row.calls)}
              </td>
              <td class="number">
                {toDuration((row.seconds * 1000) / Math.max(1, row.calls - row.denied))}
              </td>
              <td class="number">{toDuration(row.max_seconds * 1000)}</td>
              <td class="number">{toTime(row.last_at_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function toShare(count: number, all: number): string {
  return count === 0 ? "0" : `${toCount(count)} (${toPercent(count, all)})`;
}

function Failures({ tool, status }: { readonly tool: string; readonly status: string }) {
  const calls = useSignal<readonly FailedCallView[]>([]);
  const next = useSignal<string | null | undefined>(undefined);
  const problem = useSignal("");
  const token = session.value?.token;
  const more = useCallback(async (): Promise<void> => {
    try {
      const query = { tool, status, limit: 50, after: next.peek() };
      const page = await get<RecordPage<FailedCallView>>("usage/failures", query);
      calls.value = [...calls.peek(), ...page.data];
      next.value = page.next;
      problem.value = "";
    } catch (failure) {
      problem.value = messageOf(failure);
    }
  }, [tool, status, calls, next, problem]);
  useEffect(() => {
    if (token !== undefined && calls.peek().length === 0) void more();
  }, [more, token, calls]);
  if (next.value === null && calls.value.length === 0) {
    return <Empty title="None in these days." icon="check" />;
  }
  return (
    <>
      <div class="table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>State</th>
              <th>Tool</th>
              <th>Why</th>
              <th>Run</th>
              <th class="number">When</th>
            </tr>
          </thead>
          <tbody>
            {calls.value.map((call) => (
              <FailureRow key={`${call.run_id}:${call.seq}`} call={call} />
            ))}
          </tbody>
        </table>
      </div>
      {problem.value !== "" && <Problem text={problem.value} again={() => void more()} />}
      {typeof next.value === "string" && (
        <button type="button" onClick={() => void more()}>
          More calls
        </button>
      )}
    </>
  );
}

function FailureRow({ call }: { readonly call: FailedCallView }) {
  const { run_id, root_id, seq, tool, status, rule, reason, about, at_ms, title, label } = call;
  const node = encodeURIComponent(`${run_id}:${seq}`);
  return (
    <tr>
      <td>
        <Status state={status} />
      </td>
      <td class="mono">{tool}</td>
      <td class="wide">
        {rule && <code>{rule}</code>}{" "}
        {clip(reason ?? (status === "denied" ? (about ?? "") : ""), 160)}{" "}
        <a href={toHref(`runs/${encodeURIComponent(root_id)}?node=${node}`)}>Show the call</a>
      </td>
      <td>{clip(label ?? title, 60)}</td>
      <td class="number">{toTime(at_ms)}</td>
    </tr>
  );
}
