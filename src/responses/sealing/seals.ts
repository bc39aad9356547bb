/**
 * The seals of a server, each for one tenant: a text that one tenant got does not open for another.
 */

import type { CompactionSeal } from "../../agent/context/compacted-context.ts";
import { createCompactionSeal } from "./compaction-seal.ts";
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
