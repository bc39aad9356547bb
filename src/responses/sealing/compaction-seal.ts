/**
 * The sealed form in which a client gets a compacted conversation (`tenant-seal.ts`). One that another server made
 * does not open here.
 */

import type { CompactedContext, CompactionSeal } from "../../agent/context/compacted-context.ts";
import { asJson } from "../../base/json.ts";
import { storedObject } from "../../base/stored.ts";
import { createTenantSeal } from "./tenant-seal.ts";

const SEALED = storedObject<CompactedContext>("a compacted conversation", ["summary", "messages"]);

export function createCompactionSeal(serverKey: Uint8Array, tenant: string): CompactionSeal {
  const { seal, open } = createTenantSeal(serverKey, tenant, {
    purpose: "compaction",
    prefix: "offshoot1.",
  });
  return {
    seal: (context) => seal(asJson(context)),
    open(text) {
      const opened = open(text);
      return opened === undefined ? undefined : SEALED.read(opened);
    },
  };
}
