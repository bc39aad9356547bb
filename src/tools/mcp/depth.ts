/**
 * Counts our MCP servers above a call. An agent that calls itself through MCP would otherwise continue for
 * ever, each time with a new run and a new budget. Programs that we start get the number in a variable.
 * Every call over MCP has it in a field beside its arguments, because all runs of a process share its
 * connections.
 */

import { Failure } from "../../base/failure.ts";

const DEPTH_VARIABLE = "OFFSHOOT_MCP_DEPTH";
export const MAX_DEPTH = 3;

/** In `_meta` of a `tools/call` request. */
const DEPTH_FIELD = "offshoot.run/depth";

type Environment = Readonly<Record<string, string | undefined>>;

export function readDepth(env: Environment): number {
  return toDepth(env[DEPTH_VARIABLE]);
}

/** The variable for a program that is started; empty if no server of ours is above it. */
export function toDepthVariable(depth: number): Readonly<Record<string, string>> {
  return depth > 0 ? { [DEPTH_VARIABLE]: String(depth) } : {};
}

/** 0 for a call of a program that is not ours. */
export function readCallDepth(meta: Readonly<Record<string, unknown>> | undefined): number {
  return toDepth(meta?.[DEPTH_FIELD]);
}

/** Adds nothing for a run without an MCP server of ours above it. */
export function toDepthMeta(depth: number): { readonly _meta?: Readonly<Record<string, number>> } {
  return depth > 0 ? { _meta: { [DEPTH_FIELD]: depth } } : {};
}

/** Rejects if too many are above. */
export function refuseDepth(depth: number): void {
  if (depth < MAX_DEPTH) return;
  const message = `Not started: ${MAX_DEPTH} MCP servers of Offshoot are above this one already, so an agent probably calls itself.`;
  throw new Failure("invalid_request", message);
}

/** Anything but a whole number above 0 counts as 0. */
function toDepth(value: unknown): number {
  const depth = typeof value === "string" || typeof value === "number" ? Number(value) : 0;
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}
