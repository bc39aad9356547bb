/** Whatever went wrong with a server, as one line for the model or the person. */

import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { Failure } from "../../../base/failure.ts";
import type { Redact } from "../../../base/redact.ts";
import { toClean } from "../clean-text.ts";

export interface FailureFacts {
  readonly server: string;
  readonly timeoutMs: number;
  readonly redact: Redact;
  /** What is known of the server's end; undefined while it is alive. */
  readonly ended: string | undefined;
}

/** The SDK's own code of a request that took too long. */
const TIMED_OUT = -32_001;

export function isTimeout(thrown: unknown): boolean {
  return thrown instanceof McpError && thrown.code === TIMED_OUT;
}

/** Whether it is the server's answer, rather than the way to it that broke. */
export function isAnswer(thrown: unknown): boolean {
  return thrown instanceof McpError || thrown instanceof Failure || isUnreadable(thrown);
}

/** Why a request got no result. */
export function toRequestFailure(thrown: unknown, facts: FailureFacts): Failure {
  if (thrown instanceof Failure) return thrown;
  const { server, timeoutMs, redact, ended } = facts;
  const who = `The MCP server \`${server}\``;
  const fail = (text: string): Failure =>
    new Failure("tool_failed", redact(text), { cause: thrown });
  if (ended !== undefined) {
    return fail(`${who} ended before it answered. ${ended} The next call starts it again.`);
  }
  if (isTimeout(thrown)) return fail(`${who} did not answer within ${timeoutMs / 1000} s.`);
  if (isUnreadable(thrown)) return fail(`${who} sent an answer that MCP does not know.`);
  const reason = reasonOf(thrown);
  if (thrown instanceof McpError) return fail(`${who} refused the request: ${reason}`);
  return fail(`${who} cannot be reached: ${reason}`);
}

/** Why there is no connection. */
export function toConnectFailure(thrown: unknown, facts: FailureFacts): Failure {
  if (thrown instanceof Failure && thrown.code !== "tool_failed") return thrown;
  const { server, timeoutMs, redact, ended } = facts;
  const reason = isTimeout(thrown)
    ? `it did not answer within ${timeoutMs / 1000} s.`
    : isUnreadable(thrown)
      ? "it does not speak MCP."
      : reasonOf(thrown);
  const text = `The MCP server \`${server}\` cannot be used: ${reason} ${ended ?? ""}`;
  return new Failure("tool_failed", redact(text.trim()), { cause: thrown });
}

/** The SDK checks answers with zod, of which there may be more than one copy. */
function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === "ZodError" || thrown.name === "$ZodError");
}

function reasonOf(thrown: unknown): string {
  const { message, cause } = thrown instanceof Error ? thrown : new Error(String(thrown));
  // `fetch failed` says nothing; what it was is inside.
  const inner = cause instanceof Error && cause.message !== "" ? ` (${cause.message})` : "";
  const text = toClean(message.replace(/^MCP error -?\d+:\s*/, "") + inner, 500);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
