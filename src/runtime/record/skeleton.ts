/** The tree of a run as a flat list in pre-order: runs, model calls, tool calls, children. Pure. */

import type { RunRow, SpanRow } from "../../store/run-index.ts";
import type { TreeRow } from "./views.ts";

/**
 * `runs` are a run and all below it, each after its parent; `spans` are theirs, by run and number. One pass over both;
 * a child is listed below the call that started it.
 */
export function toSkeleton(runs: readonly RunRow[], spans: readonly SpanRow[]): TreeRow[] {
  const [root] = runs;
  if (!root) return [];
  const known = new Map(runs.map((run) => [run.id, run]));
  const own = groupBy(spans, ({ run_id }) => run_id);
  const unasked = groupBy(
    runs.filter(({ id }) => id !== root.id),
    ({ parent_id }) => parent_id ?? "",
  );
  const rows: TreeRow[] = [];
  // A stack and not a recursion: a tree may be as deep as its budget allows.
  const open: Walk[] = [];
  const enter = (run: RunRow, parent: string | null, depth: number): void => {
    rows.push(toRunNode(run, parent, depth));
    open.push(toWalk(run, depth + 1, own.get(run.id) ?? []));
  };
  enter(root, null, 0);
  const seen = new Set([root.id]);
  for (let walk = open.at(-1); walk; walk = open.at(-1)) {
    const next = takeNext(walk);
    if (next === undefined) {
      open.pop();
      const first = takeUnseen(unasked.get(walk.run.id) ?? [], seen);
      if (!first) continue;
      open.push({ ...walk, at: walk.spans.length });
      seen.add(first.id);
      enter(first, walk.run.id, walk.depth);
      continue;
    }
    const { span, parent, depth } = next;
    const child = span.kind === "child" ? known.get(span.key ?? "") : undefined;
    if (!child) rows.push(toSpanNode(span, parent, depth));
    else if (!seen.has(child.id)) {
      seen.add(child.id);
      enter(child, parent, depth);
    }
  }
  return rows;
}

/** Takes runs that no event of their parent names: agents of a server's team. */
function takeUnseen(left: RunRow[], seen: ReadonlySet<string>): RunRow | undefined {
  for (let run = left.shift(); run; run = left.shift()) if (!seen.has(run.id)) return run;
  return undefined;
}

interface Walk {
  readonly run: RunRow;
  readonly depth: number;
  readonly spans: readonly SpanRow[];
  /** Children by the place of the call that started them: they are listed after it. */
  readonly children: ReadonlyMap<number, readonly SpanRow[]>;
  at: number;
  /** Children of the last listed call that are not listed yet. */
  pending: SpanRow[];
  caller: string;
}

function toWalk(run: RunRow, depth: number, spans: readonly SpanRow[]): Walk {
  const children = new Map<number, SpanRow[]>();
  const places = placesOfCalls(spans);
  for (const [at, span] of spans.entries()) {
    if (span.kind !== "child") continue;
    const place = places.get(lastPart(span.under)) ?? lastCallBefore(spans, at);
    if (place === undefined) continue;
    children.set(place, [...(children.get(place) ?? []), span]);
  }
  return { run, depth, spans, children, at: 0, pending: [], caller: run.id };
}

function takeNext(walk: Walk): { span: SpanRow; parent: string; depth: number } | undefined {
  const child = walk.pending.shift();
  if (child) return { span: child, parent: walk.caller, depth: walk.depth + 1 };
  for (;;) {
    const at = walk.at++;
    const span = walk.spans[at];
    if (!span) return undefined;
    // Listed with its call, unless there is none.
    if (span.kind === "child" && isTold(walk, span)) continue;
    walk.pending = [...(walk.children.get(at) ?? [])];
    walk.caller = toSpanId(span);
    return { span, parent: walk.run.id, depth: walk.depth };
  }
}

function isTold({ children }: Walk, span: SpanRow): boolean {
  for (const told of children.values()) if (told.includes(span)) return true;
  return false;
}

/** Calls by the key of their step, `tool:TURN.PLACE`, as `child_start` names them. */
function placesOfCalls(spans: readonly SpanRow[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  let turn = 0;
  let place = 0;
  for (const [at, span] of spans.entries()) {
    if (span.kind === "turn") {
      turn = span.turn ?? turn;
      place = 0;
    }
    // An interrupted call is made again by the next owner, under the same key.
    if (span.kind === "call" && span.status !== "cut") places.set(`tool:${turn}.${place++}`, at);
  }
  return places;
}

function lastCallBefore(spans: readonly SpanRow[], at: number): number | undefined {
  for (let before = at - 1; before >= 0; before--)
    if (spans[before]?.kind === "call") return before;
  return undefined;
}

function lastPart(key: string | null): string {
  return key === null ? "" : key.slice(key.lastIndexOf("/") + 1);
}

function toRunNode(run: RunRow, parent: string | null, depth: number): TreeRow {
  const { id, label, agent, title, created_at_ms, ended_at_ms, status, ending, waiting } = run;
  const state = status === "ended" ? (ending ?? "ended") : waiting > 0 ? "waiting" : "running";
  const name = label ?? agent ?? title;
  return [
    ...([id, parent, depth, "run", name, created_at_ms, ended_at_ms] as const),
    ...([null, null, null, state, null] as const),
  ];
}

function toSpanNode(span: SpanRow, parent: string, depth: number): TreeRow {
  const { kind, turn, name, started_at_ms, ended_at_ms, status, decided_by } = span;
  const shown = kind === "turn" ? `turn ${turn}` : name;
  return [
    ...([toSpanId(span), parent, depth, kind, shown, started_at_ms, ended_at_ms] as const),
    ...([span.input_tokens, span.output_tokens, span.usd, status, decided_by] as const),
  ];
}

function toSpanId({ run_id, seq }: SpanRow): string {
  return `${run_id}:${seq}`;
}

function groupBy<Value>(
  values: readonly Value[],
  keyOf: (value: Value) => string,
): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
