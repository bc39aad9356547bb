/** The use of a run and all runs below it: by agent, by model, and the most expensive calls. */

import { toHref } from "../../core/address.ts";
import { get, runPath } from "../../core/api.ts";
import { toCount, toDuration, toMoney } from "../../core/format.ts";
import { useResource } from "../../core/resource.ts";
import type { UsageView } from "../../core/views.ts";
import { Empty, Loaded, Section } from "../../parts/loaded.tsx";
import { UsageTable } from "../usage-table.tsx";
import type { LoadedTree } from "./use-tree.ts";

const DEAREST = 12;

export function CostTab({ id, tree }: { readonly id: string; readonly tree: LoadedTree }) {
  return (
    <div class="stack">
      <div class="columns">
        <Sum id={id} by="agent" title="By agent" />
        <Sum id={id} by="model" title="By model" />
      </div>
      <Section title="Most expensive model calls">
        <Dearest id={id} tree={tree} />
      </Section>
    </div>
  );
}

interface SumProps {
  readonly id: string;
  readonly by: "agent" | "model";
  readonly title: string;
}

function Sum({ id, by, title }: SumProps) {
  const usage = useResource(`${id} ${by}`, (signal) =>
    get<UsageView>(`${runPath(id)}/usage`, { by }, signal),
  );
  return (
    <Section title={title}>
      <Loaded of={usage}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing was used yet." icon="dollar" />
          ) : (
            <UsageTable rows={data} by={by} none={by === "agent" ? "the run itself" : "none"} />
          )
        }
      </Loaded>
    </Section>
  );
}

function Dearest({ id, tree: { store } }: { readonly id: string; readonly tree: LoadedTree }) {
  void store.version.value;
  const calls = store.nodes
    .filter(({ kind, tokens }) => (kind === "turn" || kind === "compaction") && tokens > 0)
    .sort((a, b) => (b.usd ?? 0) - (a.usd ?? 0) || b.tokens - a.tokens)
    .slice(0, DEAREST);
  if (calls.length === 0) return <Empty title="No model call has ended yet." icon="turn" />;
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Call</th>
            <th>Run</th>
            <th class="number">Tokens</th>
            <th class="number">Took</th>
            <th class="number">Cost</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((node) => (
            <tr key={node.id}>
              <td>
                <a
                  href={toHref(
                    `runs/${encodeURIComponent(id)}?node=${encodeURIComponent(node.id)}`,
                  )}
                >
                  {node.name}
                </a>
              </td>
              <td>{store.find(node.parent ?? "")?.name ?? ""}</td>
              <td class="number">{toCount(node.tokens)}</td>
              <td class="number">{toDuration((node.end ?? node.start) - node.start)}</td>
              <td class="number">{toMoney(node.usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
