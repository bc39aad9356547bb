/**
 * The six events of subagents, made again from the record of a tree: they need not have been logged when they
 * happened. A refusal is read from the answer that its call got; it has left nothing else.
 */

import type { RecordReader } from "../../engine/engine.ts";
import { type ChildEnd, ENDINGS, type RunEvent } from "../../protocol/run-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { hasWorked, NO_ANSWER } from "../envelope.ts";
import type { SubagentEvent } from "../subagent-events.ts";
import { toSpawnEvent } from "../telemetry/child-events.ts";
import { isDelegating } from "../tools/names.ts";
import { answersIn, isRefusal, type ToldAnswer } from "./call-answers.ts";
import { readTree, toNodeName } from "./tree.ts";

export interface RecordedEvent {
  readonly at_ms: number;
  /** The path of the run that delegates. */
  readonly path: string;
  /** The subagent's name in its tree, as all commands take it; null for one that was not started. */
  readonly name: string | null;
  readonly event: SubagentEvent;
}

/** The events in the order they happened. Rejects with `not_found` when the run does not exist. */
export async function readSubagentEvents(
  record: RecordReader,
  id: string,
): Promise<RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  /** Bytes of what each run answered, by its path without the place of its call. */
  const sizes = new Map<string, number>();
  const depths = new Map<string, number>();
  await readTree(record, id, (run, event) => {
    if (event.type === "run_start") depths.set(run.id, event.settings.depth ?? 0);
    if (event.type === "run_end") sizes.set(run.id, Buffer.byteLength(event.output_text));
    const depth = (depths.get(run.id) ?? 0) + 1;
    found.push(...toEvents(run, event, depth));
  });
  const whole = found.map((one) => withSize(one, sizes));
  return whole.sort((a, b) => a.at_ms - b.at_ms).map(({ child_id: _, ...one }) => one);
}

interface Found extends RecordedEvent {
  /** The child whose answer was truncated. */
  readonly child_id?: string | undefined;
}

/** `depth` is that of the run's children. */
function toEvents(run: RunRecord, event: RunEvent, depth: number): Found[] {
  const { path } = run;
  if (event.type === "child_start") {
    const name = toNodeName(event.child_id);
    return [{ at_ms: event.at_ms, path, name, event: toSpawnEvent(event) }];
  }
  const { at_ms } = event as { readonly at_ms?: number };
  if (at_ms === undefined) return [];
  const told = (some: readonly SubagentEvent[], name: string | null): Found[] =>
    some.map((one) => ({ at_ms, path, name, event: one }));
  if (event.type === "child_end") {
    return told(toEndEvents(event, depth), toNodeName(event.child_id));
  }
  if (event.type !== "tool_end" || !isDelegating(event.name)) return [];
  return answersIn(event).flatMap((answer) => [
    ...told(toRefusals(answer, depth), null),
    ...toCut(answer).map((one) => {
      const name = one.child_id === undefined ? null : toNodeName(one.child_id);
      return { at_ms, path, name, ...one };
    }),
  ]);
}

function toEndEvents(
  { label, ending, message, turns, usage, no_answer = false }: ChildEnd,
  depth: number,
): SubagentEvent[] {
  const named = { label, depth };
  const limit = { event: "max_turns_exceeded", ...named, max_turns: turns } as const;
  const atLimit = ending === "max_turns" ? [limit] : [];
  if (!hasWorked(ending, { isSilent: no_answer })) {
    const why = ending === "completed" ? NO_ANSWER : message || ENDINGS[ending].summary;
    return [...atLimit, { event: "error", ...named, error: why }];
  }
  const status = ending === "completed" ? "complete" : "incomplete";
  const figures = { turns_used: turns, tokens_consumed: usage.total_tokens, status } as const;
  return [...atLimit, { event: "complete", ...named, ...figures }];
}

function toRefusals(answer: ToldAnswer, depth: number): SubagentEvent[] {
  if (!isRefusal(answer)) return [];
  const { label, error } = answer;
  const [, max] = /^Maximum subagent recursion depth \((\d+)\)/.exec(error) ?? [];
  const limit = { label, current_depth: depth - 1, max_depth: Number(max) };
  return [
    ...(max === undefined ? [] : [{ event: "depth_limit", ...limit } as const]),
    { event: "error", label, depth, error },
  ];
}

const CUT = /(?:\n\(The whole: offshoot runs show (\S+)\))?\n\[Output truncated\]$/;

function toCut({ label, output }: ToldAnswer): Pick<Found, "event" | "child_id">[] {
  const cut = CUT.exec(output);
  if (!cut) return [];
  const truncated_size = Buffer.byteLength(output.slice(0, cut.index));
  const sizes = { original_size: truncated_size, truncated_size };
  return [{ event: { event: "truncation", label, ...sizes }, child_id: cut[1] }];
}

function withSize(one: Found, sizes: ReadonlyMap<string, number>): Found {
  const original_size = one.child_id === undefined ? undefined : sizes.get(one.child_id);
  if (one.event.event !== "truncation" || original_size === undefined) return one;
  return { ...one, event: { ...one.event, original_size } };
}
