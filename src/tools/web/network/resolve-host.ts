/** The only place that asks the system for a host's addresses. */

import { lookup } from "node:dns/promises";
import { toAbortFailure, untilAborted } from "../../../base/async.ts";
import { Failure } from "../../../base/failure.ts";

/** All addresses of a name, in the order in which to try them. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Resolves like every program on this machine, with the hosts file. */
export const resolveHost: ResolveHost = async (host, signal) => {
  try {
    // A lookup of the system cannot be cancelled; a late answer is dropped.
    const answers = await untilAborted(lookup(host, { all: true, order: "verbatim" }), signal);
    return answers.map(({ address }) => address);
  } catch (cause) {
    if (signal.aborted) throw toAbortFailure(signal);
    throw new Failure("tool_failed", `The host \`${host}\` does not resolve.`, { cause });
  }
};
