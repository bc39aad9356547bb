/** Who asks: the tenant whose things are shown, and what its key may do. */

import type { Limits } from "../../agent/limits.ts";

export interface Caller {
  /** Whose stored things it sees and makes. */
  readonly tenant: string;
  /** Null where no key is asked for. */
  readonly keyId: string | null;
  /** Globs of the models it may ask; undefined for all. */
  readonly models?: readonly string[] | undefined;
  /** The server's own tools that it may use, by name. */
  readonly catalogue: readonly string[];
  /** Globs of the hosted kinds of tools that it may use (`web_search`); undefined for all. */
  readonly kinds?: readonly string[] | undefined;
  /** Globs of the vendors' own fields that it may send (`top_k`); undefined for all. */
  readonly options?: readonly string[] | undefined;
  /** How many requests its key may have on their way at once; undefined for any number. */
  readonly concurrent?: number | undefined;
  /** What one response of its may spend. */
  readonly limits: Limits;
}
