/** Two runs side by side, step by step: differences are marked, the first one is in view. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { plural } from "../../core/format.ts";
import type { ComparedRow } from "../../core/views.ts";
import { Words } from "../../parts/diff.tsx";

interface ComparedProps {
  readonly rows: readonly ComparedRow[];
  readonly first: number | null;
  readonly heads: readonly [ComponentChildren, ComponentChildren];
  /** Reads the whole text of a step, if the row has only its beginning. */
  readonly whole?: (side: "a" | "b", row: ComparedRow) => Promise<string>;
}

/** Equal rows before and after a difference, so that its place is clear. */
const AROUND = 1;

export function ComparedRows({ rows, first, heads, whole }: ComparedProps) {
  const all = useSignal(false);
  const shown = all.value ? rows.map((_, at) => at) : toShown(rows);
  const isShort = shown.length < rows.length;
  return (
    <div class="stack tight">
      <div class="row spread">
        <p role="status">{toVerdict(rows, first)}</p>
        {(isShort || all.value) && (
          <button
            type="button"
            class="small"
            aria-pressed={all.value}
            onClick={() => {
              all.value = !all.value;
            }}
          >
            {all.value ? "Only differences" : `Show all ${rows.length} steps`}
          </button>
        )}
      </div>
      <div class="table compare" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">{heads[0]}</th>
              <th scope="col">{heads[1]}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((at, place) => (
              <Row
                key={at}
                row={rows[at]}
                isFirst={at === first}
                skipped={place === 0 ? at : at - (shown[place - 1] ?? 0) - 1}
                whole={whole}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function toVerdict(rows: readonly ComparedRow[], first: number | null): string {
  if (first === null) return "The two runs have the same prompts, answers and tool calls.";
  const count = rows.filter(({ state }) => state !== "same").length;
  const row = rows[first];
  const name = row && row.name !== row.kind ? `${row.kind} ${row.name}` : (row?.kind ?? "");
  return `First difference: step ${first + 1}, ${name}. ${plural(count, "difference")} in all.`;
}

/** Differences with a step around them; all rows if nothing differs. */
function toShown(rows: readonly ComparedRow[]): number[] {
  const wanted = rows.map((_, at) =>
    rows.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ state }) => state !== "same"),
  );
  return wanted.some(Boolean)
    ? rows.map((_, at) => at).filter((at) => wanted[at])
    : rows.map((_, at) => at);
}

const SIGNS: Readonly<Record<ComparedRow["state"], string>> = {
  same: "=",
  different: "≠",
  only_a: "only left",
  only_b: "only right",
};

interface RowProps {
  readonly row: ComparedRow | undefined;
  readonly isFirst: boolean;
  /** The number of equal steps that are not shown above it. */
  readonly skipped: number;
  readonly whole: ComparedProps["whole"];
}

function Row({ row, isFirst, skipped, whole }: RowProps) {
  const element = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isFirst) element.current?.scrollIntoView({ block: "center" });
  }, [isFirst]);
  if (!row) return null;
  return (
    <>
      {skipped > 0 && (
        <tr class="skipped">
          <td colSpan={3}>{plural(skipped, "step")} the same</td>
        </tr>
      )}
      <tr ref={element} class={row.state}>
        <th scope="row">
          <span class="quiet">{SIGNS[row.state]}</span>{" "}
          {row.name === row.kind ? row.kind : row.name}
        </th>
        <Sides row={row} whole={whole} />
      </tr>
    </>
  );
}

function Sides({
  row,
  whole,
}: {
  readonly row: ComparedRow;
  readonly whole: ComparedProps["whole"];
}) {
  const texts = useSignal<readonly [string, string] | undefined>(undefined);
  const said = useSignal("");
  const [a, b] = texts.value ?? [row.a?.text ?? "", row.b?.text ?? ""];
  const isCut = [row.a, row.b].some((side) => side?.text.endsWith("…"));
  const show = async (): Promise<void> => {
    try {
      const read = async (side: "a" | "b") => (row[side] && whole ? await whole(side, row) : "");
      texts.value = [await read("a"), await read("b")];
    } catch (failure) {
      said.value = failure instanceof Error ? failure.message : String(failure);
    }
  };
  const more = isCut && whole && !texts.value && (
    <button type="button" class="link" onClick={() => void show()}>
      {row.state === "different" && a === b ? "Show all: the difference is further on" : "Show all"}
    </button>
  );
  return (
    <>
      <td>
        {row.a ? <Words a={a} b={row.state === "same" ? a : b} side="a" /> : <Missing />}
        {more} {said.value}
      </td>
      <td>{row.b ? <Words a={row.state === "same" ? b : a} b={b} side="b" /> : <Missing />}</td>
    </>
  );
}

function Missing() {
  return <span class="quiet">not there</span>;
}
