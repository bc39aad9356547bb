/** Reports to logs and traces how a child ended, with the words that its parent's model gets. */

import type { ChildReport } from "./child.ts";
import type { Envelope, Named } from "./envelope.ts";
import type { DelegationNode } from "./node.ts";

export function tellEnding(
  { observe }: Pick<DelegationNode, "observe">,
  { label, depth }: Named,
  { report, envelope }: { readonly report: ChildReport; readonly envelope: Envelope },
): void {
  const named = { label, depth };
  const { ending, turns: turns_used, usage } = report;
  if (ending === "max_turns") {
    observe({ event: "max_turns_exceeded", ...named, max_turns: turns_used });
  }
  if (!envelope.success) {
    observe({ event: "error", ...named, error: envelope.error ?? ending });
    return;
  }
  const status = ending === "completed" ? "complete" : "incomplete";
  observe({ event: "complete", ...named, turns_used, tokens_consumed: usage.total_tokens, status });
}
