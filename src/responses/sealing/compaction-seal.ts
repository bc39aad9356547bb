/**
 * The form in which a compacted conversation is handed to a client (`tenant-seal.ts`). What another
 * server made does not open here and is nothing to us.
 */

import type { CompactedContext, CompactionSeal } from "../../agent/context/compacted-context.ts";
import type { Json } from "../../base/json.ts";
import { createTenantSeal } from "./tenant-seal.ts";

export function createCompactionSeal(serverKey: Uint8Array, tenant: string): CompactionSeal {
  const { seal, open } = createTenantSeal(serverKey, tenant, {
    ...{ purpose: "compaction", prefix: "offshoot1." },
  });
  return {
    seal: (context) => seal(context as unknown as Json),
    open: (text) => open(text) as unknown as CompactedContext | undefined,
  };
}
