/** Two runs side by side: turns and calls aligned, the first difference in view. */

import { address, refine, toHref } from "../core/address.ts";
import { get, runPath } from "../core/api.ts";
import { clip, toCost, toDuration, toTime } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import type {
  ComparedRow,
  Comparison,
  RecordPage,
  RunView,
  TextPiece,
  TurnStep,
} from "../core/views.ts";
import { Empty, Loaded, ViewHead } from "../parts/loaded.tsx";
import { Status, stateOf } from "../parts/status.tsx";
import { ComparedRows } from "./run/compared-rows.tsx";
import { type Fields, outputOf, saidOf, textOf } from "./run/item-text.ts";

export function CompareView() {
  const { query } = address.value;
  const a = query.get("a") ?? "";
  const b = query.get("b") ?? "";
  return (
    <div class="view">
      <ViewHead title="Compare" about="Turns and calls of two runs, aligned by name and order." />
      <Choices a={a} b={b} />
      {a !== "" && b !== "" ? (
        <Compared key={`${a} ${b}`} a={a} b={b} />
      ) : (
        <Empty title="Choose two runs." icon="compare">
          Click into a field to choose one of the newest runs. Or open a{" "}
          <a href={toHref("runs")}>run</a> and press Compare.
        </Empty>
      )}
    </div>
  );
}

function Choices({ a, b }: { readonly a: string; readonly b: string }) {
  const recent = useResource("recent", (stop) =>
    get<RecordPage<RunView>>("runs", { limit: 50 }, stop),
  );
  const sides = [
    ["a", a],
    ["b", b],
  ] as const;
  return (
    <div class="filters">
      {sides.map(([name, value]) => (
        <input
          key={name}
          type="text"
          class="grow mono"
          list="recent-runs"
          aria-label={`Run ${name.toUpperCase()}`}
          placeholder={name === "a" ? "Id of the left run" : "Id of the right run"}
          value={value}
          onChange={(event) => refine({ [name]: event.currentTarget.value.trim() })}
        />
      ))}
      <datalist id="recent-runs">
        {(recent.value.value?.data ?? []).map((run) => (
          <option key={run.id} value={run.id}>
            {`${clip(run.title, 60)} (${toTime(run.created_at_ms)})`}
          </option>
        ))}
      </datalist>
    </div>
  );
}

function Compared({ a, b }: { readonly a: string; readonly b: string }) {
  const compared = useResource(`${a} ${b}`, (stop) =>
    get<Comparison>(`${runPath(a)}/compare`, { with: b }, stop),
  );
  return (
    <Loaded of={compared}>
      {({ rows, first_difference, ...sides }) => (
        <ComparedRows
          rows={rows}
          first={first_difference}
          heads={[<Side key="a" run={sides.a} />, <Side key="b" run={sides.b} />]}
          whole={(side, row) => readWhole(side === "a" ? a : b, row[side]?.seq ?? 0, row)}
        />
      )}
    </Loaded>
  );
}

function Side({ run }: { readonly run: RunView }) {
  return (
    <span class="stack tight">
      <a href={toHref(runPath(run.id))}>{clip(run.label ?? run.title, 60)}</a>
      <span class="row">
        <Status state={stateOf(run)} /> {run.totals.calls === 0 ? "$0" : toCost(run.totals)},{" "}
        {toDuration((run.ended_at_ms ?? Date.now()) - run.created_at_ms)}
      </span>
    </span>
  );
}

/** The complete words of a step, for the comparison. */
async function readWhole(run: string, seq: number, { kind }: ComparedRow): Promise<string> {
  if (kind === "turn") {
    const step = await get<TurnStep>(`${runPath(run)}/steps/${seq}`);
    return step.output.map((item) => toWords(item as Fields)).join("\n");
  }
  const paths = { call: "/item", input: "/input", ending: "/output_text" } as const;
  const piece = await get<TextPiece>(`${runPath(run)}/events/${seq}`, { path: paths[kind] });
  if (kind !== "call") return piece.text;
  return outputOf(JSON.parse(piece.text) as Fields).text;
}

function toWords(item: Fields): string {
  if (item["type"] === "message") return saidOf(item["content"]).text;
  if (item["type"] === "function_call")
    return `${textOf(item["name"])}(${textOf(item["arguments"])})`;
  return JSON.stringify(item);
}
