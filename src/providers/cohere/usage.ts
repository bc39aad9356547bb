/** The tokens of an answer, as Cohere counts them: all of them, and those that are paid for. */

import { toUsage, type Usage } from "../../protocol/usage.ts";
import type { ReadUsage } from "./schema.ts";

export function toCohereUsage({ tokens, billed_units: billed, cached_tokens }: ReadUsage): Usage {
  const input = tokens?.input_tokens ?? billed?.input_tokens ?? 0;
  const output = tokens?.output_tokens ?? billed?.output_tokens ?? 0;
  return toUsage({
    input,
    cached: Math.min(input, cached_tokens ?? 0),
    unbilledInput: Math.max(0, input - (billed?.input_tokens ?? input)),
    output,
    reasoning: tokens?.reasoning_tokens ?? 0,
    unbilledOutput: Math.max(0, output - (billed?.output_tokens ?? output)),
  });
}
