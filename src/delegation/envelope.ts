/**
 * The answer of `subagent` to a model, as JSON: whether it worked, the output, and the figures, all of them texts.
 * Partial work is a success that says `incomplete` and why (`incomplete_reason`); no work is not a success.
 */

import { cutToBytes } from "../base/text.ts";
import { ENDINGS, type Ending } from "../protocol/run-events.ts";
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
  /** The child's depth. */
  readonly depth: number;
}

export function toErrorEnvelope({ label, depth }: Named, error: string): Envelope {
  const metadata = { subagent_label: label, recursion_depth: String(depth) };
  return { success: false, output: "", error, metadata };
}

/** The envelope of a child that continues without its call. If it asks, the question is its output. */
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
  /** True if the run can be read later: only then does a cut text say where the whole is. */
  readonly isRecorded?: boolean | undefined;
  observe(event: SubagentEvent): void;
}

export function toEnvelope(named: Named, report: ChildReport, options: EnvelopeOptions): Envelope {
  const { ending, message, turns, usage } = report;
  if (!hasWorked(ending, { isSilent: isSilent(report) })) {
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
      ...(ending === "completed" ? {} : { incomplete_reason: message || ENDINGS[ending].summary }),
    },
  };
}

export const NO_ANSWER = "it gave no answer";

/** True for a child that says it is done but has no output: it has failed. */
export function hasNoAnswer(report: ChildReport): boolean {
  return report.ending === "completed" && isSilent(report);
}

/** True if it has left nothing that could be used. */
export function isSilent({ text, json }: Pick<ChildReport, "text" | "json">): boolean {
  return json === undefined && text.trim() === "";
}

/** The endings that leave something to use; every other one is a failure. */
const USABLE: ReadonlySet<Ending> = new Set<Ending>(["completed", "max_turns", "budget"]);

/** True if a child with this ending has done part of its task. A child with nothing to show has not. */
export function hasWorked(ending: Ending, { isSilent }: { readonly isSilent: boolean }): boolean {
  return USABLE.has(ending) && !isSilent;
}

/** Cuts at a character, and ends with a notice that says where the whole is. */
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
