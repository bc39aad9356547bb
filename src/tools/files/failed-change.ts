/** A change that did not come about, in the form of the tool that was to make it. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { ToolOutput } from "../tool.ts";

/** Throws what is no outcome of the tool's own: a refusal, which the gate records, and a fault of ours. */
export function toFailedChange(thrown: unknown, fields: JsonObject): ToolOutput {
  if (!(thrown instanceof Failure) || !OUTCOMES.has(thrown.code)) throw thrown;
  const value = { success: false, ...fields, error: thrown.message };
  return new ToolOutput(value, [], { failed: true });
}

const OUTCOMES: ReadonlySet<string> = new Set(["invalid_request", "not_found", "tool_failed"]);
