/**
 * Reasoning as plain text, for servers that accept only that. Reasoning that a vendor sealed is left out:
 * its readable part would look like this model's own thinking.
 */

import type { Reasoning } from "../protocol/items.ts";

export function readOwnReasoning(item: Reasoning): string | undefined {
  const { content, summary, encrypted_content } = item;
  if (encrypted_content) return undefined;
  const texts = content && content.length > 0 ? content : summary;
  return texts.map(({ text }) => text).join("\n") || undefined;
}
