/** Tells a person in one line that a run's conversation was compacted. */

import { plural, toUsd, withThousands } from "../../base/text.ts";
import type { RunCompaction } from "../../protocol/run-events.ts";

export function toCompactionLine(event: RunCompaction): string {
  const { summary, items, tokens_before, tokens_after, cost_usd } = event;
  const done =
    summary === ""
      ? "Shortened long results of the last turn"
      : `Replaced ${plural(items, "item")} of the conversation with a summary`;
  const size = `about ${withThousands(tokens_before)} tokens before, ${withThousands(tokens_after)} after`;
  const cost = summary === "" ? "" : cost_usd === null ? ", price unknown" : `, ${toUsd(cost_usd)}`;
  return `${done}: ${size}${cost}.`;
}
