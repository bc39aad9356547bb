/** The result of a failed change, in the form of its tool. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { ToolOutput } from "../tool.ts";

/** Throws failures that are not results of the tool: a refusal, which the gate records, and internal errors. */
export function toFailedChange(thrown: unknown, fields: JsonObject): ToolOutput {
  if (!(thrown instanceof Failure) || !OUTCOMES.has(thrown.code)) throw thrown;
  const value = { success: false, ...fields, error: thrown.message };
  return new ToolOutput(value, [], { failed: true });
}

const OUTCOMES: ReadonlySet<string> = new Set(["invalid_request", "not_found", "tool_failed"]);
