/**
 * The form in which a compacted conversation is handed to a client (`sealing/tenant-seal.ts`). What another
 * server made does not open here and is nothing to us.
 */

import type { Json } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { createTenantSeal } from "../sealing/tenant-seal.ts";

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

export interface CompactionSeal {
  seal(context: CompactedContext): string;
  /** Undefined for what was sealed elsewhere, for another tenant, or not at all. */
  open(text: string): CompactedContext | undefined;
}

export function createCompactionSeal(serverKey: Uint8Array, tenant: string): CompactionSeal {
  const { seal, open } = createTenantSeal(serverKey, tenant, {
    ...{ purpose: "compaction", prefix: "offshoot1." },
  });
  return {
    seal: (context) => seal(context as unknown as Json),
    open: (text) => open(text) as unknown as CompactedContext | undefined,
  };
}
