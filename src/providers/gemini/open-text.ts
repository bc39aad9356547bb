/** Text and thoughts while they are written, and the items that they become. */

import type { Annotation, Logprob } from "../../protocol/content.ts";
import type { Item, Reasoning } from "../../protocol/items.ts";
import type { Sources } from "./citations.ts";
import type { GeminiLikely, GeminiLogprobs } from "./schema.ts";
import { type SealedPart, sealPart, type TextSegment } from "./sealed-part.ts";

export interface OpenText {
  readonly kind: "thought" | "text";
  readonly index: number;
  text: string;
  readonly segments: TextSegment[];
  readonly sources: Sources[];
  /** Probabilities of the tokens so far; undefined unless the request asked for them. */
  logprobs: Logprob[] | undefined;
}

export function createOpenText(
  kind: OpenText["kind"],
  index: number,
  sources: Sources[] = [],
): OpenText {
  return { kind, index, text: "", segments: [], sources, logprobs: undefined };
}

/** The item as it starts. */
export function toStart(kind: OpenText["kind"]): Item {
  return kind === "thought"
    ? { type: "reasoning", summary: [] }
    : { type: "message", role: "assistant", status: "in_progress", content: [] };
}

export function toMessage(
  { text, logprobs }: OpenText,
  annotations: Annotation[],
  status: "completed" | "incomplete",
): Item {
  const likely = logprobs && { logprobs };
  const content = [{ type: "output_text" as const, text, annotations, ...likely }];
  return { type: "message", role: "assistant", status, content };
}

export function toReasoning(text: string, sealed: SealedPart): Reasoning {
  const summary = text === "" ? [] : [{ type: "summary_text" as const, text }];
  return { type: "reasoning", summary, encrypted_content: sealPart(sealed) };
}

/** Adds a piece. Unsigned text from many events becomes one part, because only signed text needs borders. */
export function addSegment(segments: TextSegment[], [length, signature]: TextSegment): void {
  const last = segments.at(-1);
  if (last?.[1] === null && signature === null)
    segments[segments.length - 1] = [last[0] + length, null];
  else segments.push([length, signature]);
}

/** Probabilities of tokens in the form of the Responses API, which also has their bytes. */
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
