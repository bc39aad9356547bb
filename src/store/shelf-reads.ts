/**
 * Says that a shelf is read, for whoever holds run code against its rule: what it reads outside of steps a takeover
 * may find changed. Nobody listens in a program; the tests do.
 */

import { channel } from "node:diagnostics_channel";

const reads = channel("offshoot:shelf");

export function noteRead(kind: string): void {
  if (reads.hasSubscribers) reads.publish({ kind });
}
