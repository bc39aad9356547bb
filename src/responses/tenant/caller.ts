/** The caller of a request: its tenant, and what its key may do. */

import type { Limits } from "../../agent/limits.ts";

export interface Caller {
  /** The tenant whose stored things it sees and makes. */
  readonly tenant: string;
  /** Null if the server asks for no key. */
  readonly keyId: string | null;
  /** Globs of the models that it may ask; undefined for all. */
  readonly models?: readonly string[] | undefined;
  /** Names of the server's own tools that it may use. */
  readonly catalogue: readonly string[];
  /** Globs of the hosted kinds of tools that it may use (`web_search`); undefined for all. */
  readonly kinds?: readonly string[] | undefined;
  /** Globs of the vendors' own fields that it may send (`top_k`); undefined for all. */
  readonly options?: readonly string[] | undefined;
  /** How many requests its key may have in progress at once; undefined for any number. */
  readonly concurrent?: number | undefined;
  /** The most that one of its responses may spend. */
  readonly limits: Limits;
}
