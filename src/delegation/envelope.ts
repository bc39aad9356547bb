/**
 * What `subagent` answers a model, as JSON: whether it worked, what came of it, and the figures, all of
 * them texts. Partial work is a success that says `incomplete`, and why; no work is none.
 */

import { cutToBytes } from "../base/text.ts";
import type { ChildReport } from "./child.ts";
import type { SubagentEvent } from "./subagent-events.ts";

export interface Envelope {
  readonly success: boolean;
  readonly output: string;
  readonly error: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface Named {
  readonly label: string;
  /** Of the child. */
  readonly depth: number;
}

export function toErrorEnvelope({ label, depth }: Named, error: string): Envelope {
  const metadata = { subagent_label: label, recursion_depth: String(depth) };
  return { success: false, output: "", error, metadata };
}

/** Of a child that goes on without its call: the question is its output, where it has one. */
export function toOpenEnvelope(
  { label, depth }: Named,
  { id, question }: { readonly id: string; readonly question: string | undefined },
): Envelope {
  const metadata = {
    subagent_label: label,
    recursion_depth: String(depth),
    subagent_id: id,
    completion_status: question === undefined ? "running" : "asks",
  };
  return { success: true, output: question ?? "", error: null, metadata };
}

interface EnvelopeOptions {
  readonly maxBytes: number;
  /** Whether the run can be read later: only then does a cut text say where the whole is. */
  readonly isRecorded?: boolean | undefined;
  observe(event: SubagentEvent): void;
}

/** The endings that leave something to use; every other one is a failure. */
const USABLE: ReadonlySet<ChildReport["ending"]> = new Set(["completed", "max_turns", "budget"]);

export function toEnvelope(named: Named, report: ChildReport, options: EnvelopeOptions): Envelope {
  const { ending, message, turns, usage } = report;
  if (hasFailed(report)) {
    const why = hasNoAnswer(report) ? NO_ANSWER : message || ending;
    const envelope = toErrorEnvelope(named, `Subagent execution failed: ${why}`);
    return { ...envelope, output: toOutput(named, report, options) };
  }
  return {
    success: true,
    output: toOutput(named, report, options),
    error: null,
    metadata: {
      subagent_label: named.label,
      recursion_depth: String(named.depth),
      completion_status: ending === "completed" ? "complete" : "incomplete",
      turns_used: String(turns),
      max_turns_reached: String(ending === "max_turns"),
      tokens_consumed: String(usage.total_tokens),
    },
  };
}

export const NO_ANSWER = "it gave no answer";

/** A child that says it is done and has nothing to say has failed. */
export function hasNoAnswer(report: ChildReport): boolean {
  return report.ending === "completed" && isEmpty(report);
}

function isEmpty({ text, json }: ChildReport): boolean {
  return json === undefined && text.trim() === "";
}

/** At its last turn a child may have worked and said nothing yet; one whose budget ended may not have run at all. */
function hasFailed(report: ChildReport): boolean {
  const { ending } = report;
  return !USABLE.has(ending) || (ending !== "max_turns" && isEmpty(report));
}

/** Cut on a character, with where the whole is to be found, and the notice as its end. */
function toOutput(
  { label }: Named,
  { id, text, json }: ChildReport,
  { maxBytes, isRecorded, observe }: EnvelopeOptions,
): string {
  const whole = json === undefined ? text : JSON.stringify(json);
  const original_size = Buffer.byteLength(whole);
  if (original_size <= maxBytes) return whole;
  const kept = cutToBytes(whole, maxBytes);
  const truncated_size = Buffer.byteLength(kept);
  observe({ event: "truncation", label, original_size, truncated_size });
  const where = isRecorded ? `\n(The whole: offshoot runs show ${id})` : "";
  return `${kept}${where}\n[Output truncated]`;
}
