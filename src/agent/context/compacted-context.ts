/** What a conversation becomes when it is compacted, and the form in which that is handed on. */

import type { Item } from "../../protocol/items.ts";

/** What stands in place of a conversation. */
export interface CompactedContext {
  /** A model's own words on what was said and done. */
  readonly summary: string;
  /** What users and developers said, word for word, as far as there was room. */
  readonly messages: readonly Item[];
  /** How the conversation ended, word for word: calls that wait for their results, the last answer. */
  readonly tail: readonly Item[];
  /** Marks of all messages that are in it, in `messages` or in the summary alone. */
  readonly covered: readonly string[];
}

/** The text of a `compaction` item. Whoever hands it to clients decides how it is kept from them. */
export interface CompactionSeal {
  seal(context: CompactedContext): string;
  /** Undefined for what was sealed elsewhere, for another tenant, or not at all. */
  open(text: string): CompactedContext | undefined;
}
