/** The end of a stream: one terminal event, and for a failure an `error` event before it. */

import type { EmittedResponse, Unnumbered } from "../../protocol/emitted.ts";

/**
 * For a response that has ended. `code` is for the `error` event, if it says more than the response's code.
 */
export function toTerminalEvents(response: EmittedResponse, code?: string): Unnumbered[] {
  const { status, error } = response;
  const type = TERMINAL[status] ?? "response.incomplete";
  const end: Unnumbered = { type, response };
  if (status !== "failed" || !error) return [end];
  return [toErrorEvent(code ?? error.code, error.message), end];
}

const TERMINAL: Readonly<Record<string, "response.completed" | "response.failed">> = {
  completed: "response.completed",
  failed: "response.failed",
};

/** Both shapes at once: the published one is flat, the one that real servers send is nested. */
function toErrorEvent(code: string, message: string): Unnumbered {
  const type = "server_error";
  return { type: "error", code, message, param: null, error: { type, code, message, param: null } };
}
