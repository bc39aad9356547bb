/** The compacted form of a conversation, and the form in which it is passed on. */

import type { Item } from "../../protocol/items.ts";

/** The replacement of a conversation after its compaction. */
export interface CompactedContext {
  /** A model's summary of what was said and done. */
  readonly summary: string;
  /** The messages of users and developers, word for word, as far as there was room. */
  readonly messages: readonly Item[];
  /** How the conversation ended, word for word: calls that wait for their results, the last answer. */
  readonly tail: readonly Item[];
  /** Marks of all messages that the compaction covers, whether they are in `messages` or only in the summary. */
  readonly covered: readonly string[];
}

/**
 * Writes and reads the text of a `compaction` item. The implementation decides how the content is hidden from clients.
 */
export interface CompactionSeal {
  seal(context: CompactedContext): string;
  /** Undefined for a text that was sealed elsewhere, for another tenant, or not at all. */
  open(text: string): CompactedContext | undefined;
}
