/** Runs a call within its time limit. A call that ignores its signal is abandoned. */

import { toAbortFailure } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import type { ToolContext, ToolOutput } from "../tool.ts";
import type { Allowed } from "./judge.ts";

export async function runLimited(
  { tool, input }: Allowed,
  context: ToolContext,
  timeoutMs: number,
): Promise<Json | ToolOutput> {
  const own = new AbortController();
  const seconds = Math.round(timeoutMs / 100) / 10;
  const timer = setTimeout(() => {
    const message = `\`${tool.spec.name}\` took longer than ${seconds} s.`;
    own.abort(new Failure("tool_failed", message));
  }, timeoutMs);
  const signal = AbortSignal.any([context.signal, own.signal]);
  let give: (() => void) | undefined;
  try {
    const cut = new Promise<never>((_, reject) => {
      give = () => reject(toAbortFailure(signal));
      signal.addEventListener("abort", give, { once: true });
      // A signal that is already aborted does not call its listeners.
      if (signal.aborted) give();
    });
    return await Promise.race([tool.run(input, { ...context, signal }), cut]);
  } finally {
    clearTimeout(timer);
    if (give) signal.removeEventListener("abort", give);
  }
}
