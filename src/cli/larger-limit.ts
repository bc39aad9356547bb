/**
 * How to continue a run that ended at a limit: the same conversation, with a larger one. The record keeps what was
 * said and done, so nothing of it is paid again.
 */

import type { LimitKind } from "../agent/limits.ts";
import type { RunEnd } from "../protocol/run-events.ts";
import type { InnerRunRequest } from "../runtime/run-request.ts";
import type { Run, RuntimeOptions } from "../runtime/runtime.ts";

/** The flag that sets each limit. The number of model calls of a tree has none. */
const FLAGS: Readonly<Partial<Record<LimitKind, string>>> = {
  usd: "--max-cost USD",
  tokens: "--max-total-tokens N",
  tool_calls: "--max-tool-calls N",
};

type Asked = Pick<InnerRunRequest, "limits" | "max_output_tokens">;

export interface LimitedRun {
  readonly asked: Asked;
  readonly run: Pick<Run, "session">;
  readonly settings: Pick<RuntimeOptions, "storePath">;
}

/** Undefined if the ending is not a limit, or if no flag of the command raises it. */
export function toNextHint(end: RunEnd, { asked, run, settings }: LimitedRun): string | undefined {
  const [first, ...others] = findFlags(end, asked);
  if (first === undefined) return undefined;
  const flags = `${first}${others.map((flag) => ` or ${flag}`).join("")}`;
  // Without a record, and before its first turn, there is nothing to continue.
  const isKept = run.session !== undefined && settings.storePath !== undefined;
  if (!isKept || end.turns === 0) return `Run it again with a larger limit: ${flags}.`;
  return `To continue with a larger limit: offshoot run -c ${flags} "continue"`;
}

function findFlags({ ending }: RunEnd, { limits, max_output_tokens }: Asked): string[] {
  if (ending === "max_turns") return ["--max-turns N"];
  if (ending !== "budget") return [];
  const set = (Object.keys(FLAGS) as LimitKind[]).filter(
    (kind) => (limits?.[kind] ?? null) !== null,
  );
  const flags = set.flatMap((kind) => FLAGS[kind] ?? []);
  return (max_output_tokens ?? null) === null ? flags : [...flags, "--max-tokens N"];
}
