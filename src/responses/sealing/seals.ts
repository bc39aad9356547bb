/**
 * The seals of a server, each for one tenant: a text that one tenant got does not open for another.
 */

import type { CompactedContext, CompactionSeal } from "../../agent/context/compacted-context.ts";
import { asJson } from "../../base/json.ts";
import { storedObject } from "../../base/stored.ts";
import { createTenantSeal } from "./tenant-seal.ts";
import { createThoughtSeal, type ThoughtSeal } from "./thought-seal.ts";

export interface Seals {
  /** For compacted conversations. */
  readonly sealOf: (tenant: string) => CompactionSeal;
  /** For reasoning that no vendor has sealed. */
  readonly thoughtSealOf: (tenant: string) => ThoughtSeal;
}

export function createSeals(serverKey: Uint8Array): Seals {
  return {
    sealOf: (tenant) => createCompactionSeal(serverKey, tenant),
    thoughtSealOf: (tenant) => createThoughtSeal(serverKey, tenant),
  };
}

const SEALED = storedObject<CompactedContext>("a compacted conversation", ["summary", "messages"]);

/** The sealed form in which a client gets a compacted conversation. One that another server made does not open here. */
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
