/**
 * How many of our MCP servers stand above a call: an agent that calls itself through MCP would go round for ever, each
 * round a run and a budget of its own. Programs that we start are told by a variable. Every call over MCP is told by a
 * field beside its arguments, because all runs of a process share its connections.
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

/** For a program that is started; nothing where nobody stands above. */
export function toDepthVariable(depth: number): Readonly<Record<string, string>> {
  return depth > 0 ? { [DEPTH_VARIABLE]: String(depth) } : {};
}

/** 0 for a call of a program that is not ours. */
export function readCallDepth(meta: Readonly<Record<string, unknown>> | undefined): number {
  return toDepth(meta?.[DEPTH_FIELD]);
}

/** Nothing is added for a run that no MCP server of ours stands above. */
export function toDepthMeta(depth: number): { readonly _meta?: Readonly<Record<string, number>> } {
  return depth > 0 ? { _meta: { [DEPTH_FIELD]: depth } } : {};
}

/** Rejects where too many are above. */
export function refuseDepth(depth: number): void {
  if (depth < MAX_DEPTH) return;
  const message = `Not started: ${MAX_DEPTH} MCP servers of Offshoot are above this one already, so an agent probably calls itself.`;
  throw new Failure("invalid_request", message);
}

/** What is not a whole number above 0 is none. */
function toDepth(value: unknown): number {
  const depth = typeof value === "string" || typeof value === "number" ? Number(value) : 0;
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}
