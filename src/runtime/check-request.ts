/** The fields of a run's request. One that nobody knows is refused: it would be ignored without a word. */

import { type OutputOptions, toOutputFormat } from "../agent/output-mode.ts";
import { Failure } from "../base/failure.ts";
import { clip, nearest } from "../base/text.ts";
import type { OutputFormat } from "../providers/provider.ts";
import type { RunRequest } from "./runtime.ts";

const FIELDS = {
  model: true,
  input: true,
  timeoutMs: true,
  place: true,
  output_mode: true,
  output_schema: true,
  model_reason: true,
  provider: true,
  url: true,
  api_key_name: true,
  instructions: true,
  tools: true,
  tool_choice: true,
  max_turns: true,
  temperature: true,
  max_output_tokens: true,
  think: true,
  format: true,
  response: true,
  root: true,
  approve: true,
  sandbox: true,
  grant: true,
  limits: true,
  label: true,
  agent: true,
  depth: true,
  summary_prompt: true,
  report_along: true,
  on_throw: true,
  deployments: true,
  options: true,
} as const satisfies Record<keyof RunRequest, true>;

/** Throws `Failure("invalid_request")` that names the first field there is none of. */
export function checkRequest(request: object): void {
  const known = Object.keys(FIELDS);
  const extra = Object.keys(request).find((name) => !known.includes(name));
  if (extra === undefined) return;
  const near = nearest(extra, known);
  const hint = near ? `Did you mean \`${near}\`?` : `There are: ${known.join(", ")}.`;
  const message = `A run's request has no field \`${clip(extra, 60)}\`. ${hint}`;
  throw new Failure("invalid_request", message, { param: clip(extra, 60) });
}

/** The form of the answer, by whichever of its names it was asked for. */
export function formatOf(
  request: OutputOptions & { readonly format?: OutputFormat | undefined },
): OutputFormat {
  const { format, output_mode, output_schema } = request;
  if (format === undefined) return toOutputFormat(request);
  if ((output_mode ?? output_schema ?? null) === null) return format;
  const message = "Give either `format`, or `output_mode` and `output_schema`, not both.";
  throw new Failure("invalid_request", message, { param: "output_mode" });
}
