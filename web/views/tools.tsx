/** Tools: how often each was called, failed, was denied, and how long it took. */

import { get } from "../core/api.ts";
import { toCount, toDuration, toTime } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import type { ToolsView as ToolSums } from "../core/views.ts";
import { Empty, Loaded } from "../parts/loaded.tsx";

export function ToolsView() {
  const tools = useResource("tools", (stop) => get<ToolSums>("usage/tools", {}, stop), 10_000);
  return (
    <div class="view">
      <header>
        <h1>Tools</h1>
      </header>
      <Loaded of={tools}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No tool was called in these days." />
          ) : (
            <div class="scrolls" tabIndex={0}>
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
                        <code>{row.tool}</code>
                      </td>
                      <td class="number">{toCount(row.calls)}</td>
                      <td class={`number ${row.failed > 0 ? "bad" : ""}`}>
                        {toShare(row.failed, row.calls)}
                      </td>
                      <td class={`number ${row.denied > 0 ? "warn" : ""}`}>
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
          )
        }
      </Loaded>
    </div>
  );
}

function toShare(count: number, all: number): string {
  return count === 0
    ? "0"
    : `${toCount(count)} (${Math.round((count / Math.max(1, all)) * 100)} %)`;
}
