/**
 * Reasoning as plain text, for servers that take no other. What a vendor sealed is that vendor's own:
 * its readable part would pass for this model's thoughts, so it is left out.
 */

import type { Reasoning } from "../protocol/items.ts";

export function readOwnReasoning(item: Reasoning): string | undefined {
  const { content, summary, encrypted_content } = item;
  if (encrypted_content) return undefined;
  const texts = content && content.length > 0 ? content : summary;
  return texts.map(({ text }) => text).join("\n") || undefined;
}
