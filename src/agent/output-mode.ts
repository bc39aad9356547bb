/** The required form of an answer, from the two options that say so everywhere: `output_mode` and `output_schema`. */

import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { OutputFormat } from "../providers/provider.ts";

export const OUTPUT_MODES = ["json_schema", "json_object"] as const;
export type OutputMode = (typeof OUTPUT_MODES)[number];

export interface OutputOptions {
  readonly output_mode?: OutputMode | null | undefined;
  readonly output_schema?: JsonObject | null | undefined;
}

/** A schema alone means `json_schema`. Throws `Failure("invalid_request")` for options that contradict each other. */
export function toOutputFormat(
  { output_mode, output_schema }: OutputOptions,
  name = "structured_output",
): OutputFormat {
  const schema = output_schema ?? undefined;
  if (output_mode === "json_object") {
    if (schema === undefined) return { type: "json_object" };
    throw invalid("`output_mode` is `json_object`, which takes no `output_schema`.");
  }
  if (schema) return { type: "json_schema", name, schema, strict: true };
  if (!output_mode) return { type: "text" };
  throw invalid("`output_mode` is `json_schema`, and `output_schema` is missing.");
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "output_mode" });
}
