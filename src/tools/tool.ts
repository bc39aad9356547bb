/**
 * The contract of a tool: what the model is told, whether it changes anything, and what it does.
 *
 * A tool that throws is news for the model, not the end of the run; only cancelling is. Tools are
 * reached through `gate.ts` alone.
 */

import type { Json } from "../base/json.ts";
import type { FunctionTool } from "../protocol/tools.ts";

export interface Tool {
  readonly spec: FunctionTool;
  /** Read-only calls of one turn run side by side; the others run in the order they were made. */
  readonly readOnly: boolean;
  /** Checks the arguments; rejects with `Failure("invalid_request")` that names what is wrong. */
  parse(input: Json): unknown;
  /** `input` is what `parse` gave. Text is sent as it is, anything else as JSON. */
  run(input: unknown, context: ToolContext): Promise<Json>;
}

export interface ToolContext {
  /** The workspace; a tool reads and writes nothing outside it. */
  readonly root: string;
  readonly signal: AbortSignal;
  /** The same for a repeated attempt at the same call: run id and step key. */
  readonly idempotencyKey: string;
}
