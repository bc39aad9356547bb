/** Turns every problem with a server into one line for the model or the user. */

import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { Failure } from "../../../base/failure.ts";
import type { Redact } from "../../../base/redact.ts";
import { toClean } from "../clean-text.ts";

export interface FailureFacts {
  readonly server: string;
  readonly timeoutMs: number;
  readonly redact: Redact;
  /** How the server ended, as far as it is known; undefined while it is running. */
  readonly ended: string | undefined;
}

/** The SDK's own code for a request that timed out. */
const TIMED_OUT = -32_001;

export function isTimeout(thrown: unknown): boolean {
  return thrown instanceof McpError && thrown.code === TIMED_OUT;
}

/** True if the server answered with the error, and the connection did not break. */
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
  if (isUnreadable(thrown)) return fail(`${who} sent an answer that is not valid MCP.`);
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

/** The SDK checks answers with zod, of which there may be several copies. */
function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === "ZodError" || thrown.name === "$ZodError");
}

function reasonOf(thrown: unknown): string {
  const { message, cause } = thrown instanceof Error ? thrown : new Error(String(thrown));
  // `fetch failed` says nothing; the reason is in its cause.
  const inner = cause instanceof Error && cause.message !== "" ? ` (${cause.message})` : "";
  const text = toClean(message.replace(/^MCP error -?\d+:\s*/, "") + inner, 500);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
