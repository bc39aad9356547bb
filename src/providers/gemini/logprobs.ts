/** Probabilities of tokens in the form of the Responses API, which also has their bytes. */

import type { Logprob } from "../../protocol/content.ts";
import type { GeminiLikely, GeminiLogprobs } from "./schema.ts";

export function toLogprobs({ chosenCandidates, topCandidates }: GeminiLogprobs): Logprob[] {
  return (chosenCandidates ?? []).map((chosen, step) => ({
    ...toToken(chosen),
    top_logprobs: (topCandidates?.[step]?.candidates ?? []).map(toToken),
  }));
}

function toToken({ token, logProbability }: GeminiLikely) {
  const text = token ?? "";
  return { token: text, logprob: logProbability ?? 0, bytes: [...Buffer.from(text)] };
}
