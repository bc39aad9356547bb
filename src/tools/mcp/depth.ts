/**
 * How many of our MCP servers stand above this process: an agent that calls itself through MCP would go round for
 * ever, each round a process and a budget of its own. Servers we start as programs are told by this variable.
 */

import { Failure } from "../../base/failure.ts";

export const DEPTH_VARIABLE = "OFFSHOOT_MCP_DEPTH";
export const MAX_DEPTH = 3;

type Environment = Readonly<Record<string, string | undefined>>;

export function readDepth(env: Environment): number {
  const depth = Number(env[DEPTH_VARIABLE] ?? 0);
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}

/** Rejects where too many are above. */
export function refuseDepth(env: Environment): void {
  if (readDepth(env) < MAX_DEPTH) return;
  const message = `Not started: ${MAX_DEPTH} MCP servers of Offshoot are above this one already, so an agent probably calls itself.`;
  throw new Failure("invalid_request", message);
}
