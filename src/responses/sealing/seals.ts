/** The seals of a server, each for one tenant: what one tenant was given does not open for another. */

import type { CompactionSeal } from "../../agent/context/compacted-context.ts";
import { createCompactionSeal } from "./compaction-seal.ts";
import { createThoughtSeal, type ThoughtSeal } from "./thought-seal.ts";

export interface Seals {
  /** Of compacted conversations. */
  readonly sealOf: (tenant: string) => CompactionSeal;
  /** Of reasoning that no vendor has sealed. */
  readonly thoughtSealOf: (tenant: string) => ThoughtSeal;
}

export function createSeals(serverKey: Uint8Array): Seals {
  return {
    sealOf: (tenant) => createCompactionSeal(serverKey, tenant),
    thoughtSealOf: (tenant) => createThoughtSeal(serverKey, tenant),
  };
}
