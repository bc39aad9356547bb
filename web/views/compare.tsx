/** Two runs side by side: turns and calls aligned, the first difference in view. */

import { useEffect, useRef } from "preact/hooks";
import { address, refine, toHref } from "../core/address.ts";
import { get } from "../core/api.ts";
import { toCost, toDuration } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import type { ComparedRow, Comparison, RunView } from "../core/views.ts";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Status, stateOf } from "../parts/status.tsx";

export function CompareView() {
  const { query } = address.value;
  const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""];
  return (
    <div class="view">
      <header>
        <h1>Compare</h1>
      </header>
      <div class="filters">
        {(
          [
            ["a", a],
            ["b", b],
          ] as const
        ).map(([name, value]) => (
          <input
            key={name}
            type="text"
            class="grow mono"
            aria-label={`Run ${name.toUpperCase()}`}
            placeholder={`Id of run ${name.toUpperCase()}`}
            value={value}
            onChange={(event) => refine({ [name]: event.currentTarget.value.trim() })}
          />
        ))}
      </div>
      {a !== "" && b !== "" ? (
        <Compared key={`${a} ${b}`} a={a} b={b} />
      ) : (
        <Empty title="Name two runs.">
          Their ids are in the list of <a href={toHref("runs")}>runs</a>.
        </Empty>
      )}
    </div>
  );
}

function Compared({ a, b }: { readonly a: string; readonly b: string }) {
  const compared = useResource(`${a} ${b}`, (stop) =>
    get<Comparison>(`runs/${encodeURIComponent(a)}/compare`, { with: b }, stop),
  );
  const first = useRef<HTMLTableRowElement>(null);
  const value = compared.value.value;
  useEffect(() => first.current?.scrollIntoView({ block: "center" }), [value]);
  return (
    <Loaded of={compared}>
      {({ rows, first_difference, ...sides }) => (
        <>
          <p role="status">
            {first_difference === null
              ? "They are the same in what they were given, said and did."
              : `First difference: ${rows[first_difference]?.kind} ${rows[first_difference]?.name ?? ""}`}
          </p>
          <div class="scrolls" tabIndex={0}>
            <table class="compare">
              <thead>
                <tr>
                  <th>Step</th>
                  <th>
                    <Side run={sides.a} />
                  </th>
                  <th>
                    <Side run={sides.b} />
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row, at) => (
                  <tr key={at} ref={at === first_difference ? first : null} class={row.state}>
                    <th scope="row">
                      {SIGNS[row.state]} {row.kind} {row.name === row.kind ? "" : row.name}
                    </th>
                    <td>
                      <pre class="plain">{row.a?.text ?? "–"}</pre>
                    </td>
                    <td>
                      <pre class="plain">{row.b?.text ?? "–"}</pre>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Loaded>
  );
}

const SIGNS: Readonly<Record<ComparedRow["state"], string>> = {
  same: "=",
  different: "≠",
  only_a: "←",
  only_b: "→",
};

function Side({ run }: { readonly run: RunView }) {
  return (
    <>
      <a href={toHref(`runs/${encodeURIComponent(run.id)}`)}>{run.label ?? run.title}</a>
      <br />
      <Status state={stateOf(run)} /> {toCost(run.totals)} ·{" "}
      {toDuration((run.ended_at_ms ?? Date.now()) - run.created_at_ms)}
    </>
  );
}
