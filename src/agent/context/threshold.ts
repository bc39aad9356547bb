/** A conversation is compacted when it takes this share of the window. */
const THRESHOLD_SHARE = 0.8;

/** How many tokens a conversation may have, so that there is room for the answer. */
export function toThreshold(window: number, maxOutputTokens: number | null): number {
  const answer = Math.min(maxOutputTokens ?? 0, window / 2);
  return Math.min(window * THRESHOLD_SHARE, window - answer);
}
