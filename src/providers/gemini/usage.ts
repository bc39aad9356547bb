/** The tokens of an answer, and the calls of Google's own tools, as the API counts them. */

import { toUsage, type Usage } from "../../protocol/usage.ts";
import { readShape } from "../shape.ts";
import { USAGE } from "./schema.ts";

/** `sent` has the counts of all events, joined. */
export function readUsage(sent: object, nativeCalls: Record<string, number>): Usage {
  const usage = readShape({ ...sent }, USAGE);
  const thoughts = usage.thoughtsTokenCount ?? 0;
  return toUsage({
    input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    cached: usage.cachedContentTokenCount ?? 0,
    output: (usage.candidatesTokenCount ?? 0) + thoughts,
    reasoning: thoughts,
    nativeCalls,
  });
}
