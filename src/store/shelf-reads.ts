/**
 * Reports that a shelf is read, to check the rule for run code: what it reads outside steps may have changed after a
 * takeover. Programs have no listener; the tests do.
 */

import { channel } from "node:diagnostics_channel";

const reads = channel("offshoot:shelf");

export function noteRead(kind: string): void {
  if (reads.hasSubscribers) reads.publish({ kind });
}
