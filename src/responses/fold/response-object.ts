/** The Response object of a run: what it is at the start, and how an ending changes it. */

import { toToldMessage } from "../../base/own-fault.ts";
import type { EmittedItem, EmittedResponse } from "../../protocol/emitted.ts";
import type { TextFormat } from "../../protocol/request.ts";
import type { RunEnd, RunSettings, RunStart } from "../../protocol/run-events.ts";
import { ROOT } from "../multi-agent/agent-name.ts";
import { toShownFormat } from "../request/echo.ts";
import { type ResponseSettings, withIgnored } from "./response-settings.ts";

/** `resp_01k…` for the run `run_01k…`: one thing under two names. */
export function toResponseId(runId: string): string {
  return `resp_${runId.startsWith("run_") ? runId.slice(4) : runId}`;
}

/** What of a run's beginning is shown where no request says otherwise. */
type Beginning = Pick<RunStart, "run_id" | "created_at_ms"> & {
  readonly settings: Pick<
    RunSettings,
    "model" | "instructions" | "temperature" | "max_output_tokens" | "think" | "format"
  >;
};

/** Of an answer that no run gives: all that is shown is what the request says. */
export const NO_RUN: Beginning["settings"] = {
  ...{ model: "", instructions: null, temperature: null, max_output_tokens: null, think: false },
  format: { type: "text" },
};

/** The response before anything was answered. `request` is what a client asked, if one did. */
export function toResponse(
  { run_id, created_at_ms, settings }: Beginning,
  request?: ResponseSettings,
): EmittedResponse {
  const { model, instructions, temperature, max_output_tokens, think, format } = settings;
  return {
    id: toResponseId(run_id),
    object: "response",
    created_at: Math.floor(created_at_ms / 1000),
    completed_at: null,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions,
    model,
    output: [],
    output_text: "",
    usage: null,
    access_programs: null,
    previous_response_id: null,
    conversation: null,
    tools: [],
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: think ? { effort: "high", summary: "detailed" } : null,
    reasoning_effort: think ? "high" : null,
    text: { format: toShownFormat(format as unknown as TextFormat) },
    truncation: "disabled",
    temperature: temperature ?? 1,
    top_p: 1,
    top_logprobs: 0,
    frequency_penalty: 0,
    presence_penalty: 0,
    max_output_tokens,
    max_tool_calls: null,
    store: false,
    background: false,
    service_tier: "default",
    safety_identifier: null,
    prompt_cache_key: null,
    user: null,
    ...request?.echo,
    ...(request?.echo.background ? { status: "queued" as const } : {}),
    metadata: withIgnored(request?.echo.metadata ?? {}, request?.ignored ?? []),
  };
}

export function toRunId(responseId: string): string {
  return `run_${responseId.replace(/^resp_/, "")}`;
}

/** The response as the run left it. */
export function endResponse(
  response: EmittedResponse,
  end: RunEnd,
  output: readonly EmittedItem[],
): EmittedResponse {
  return { ...response, ...toEnding(end, output) };
}

type EndingFields = "status" | "error" | "incomplete_details" | "completed_at" | OutputFields;
type OutputFields = "output" | "output_text" | "usage";

/** What an ending says of a response. */
function toEnding(
  end: RunEnd,
  output: readonly EmittedItem[],
): Pick<EmittedResponse, EndingFields> {
  const { status, error, incomplete_details } = toStatus(end);
  return {
    ...{ status, error, incomplete_details },
    completed_at: end.ending === "completed" ? Math.floor(end.at_ms / 1000) : null,
    output: [...output],
    output_text: toOutputText(output),
    usage: end.usage,
  };
}

/** The response that is made when all is known: what `toResponse` and `endResponse` come to. */
export function toWholeResponse(
  { run_id, created_at_ms }: Pick<RunStart, "run_id" | "created_at_ms">,
  { echo, ignored }: ResponseSettings,
  { end, output }: { readonly end: RunEnd; readonly output: readonly EmittedItem[] },
): EmittedResponse {
  return {
    id: toResponseId(run_id),
    object: "response",
    created_at: Math.floor(created_at_ms / 1000),
    access_programs: null,
    ...toEnding(end, output),
    ...echo,
    metadata: withIgnored(echo.metadata, ignored),
  };
}

/** Without what of a failure is for those who run the server. */
export function withToldError(end: RunEnd): RunEnd {
  return end.error ? { ...end, error: { ...end.error, message: toToldMessage(end.error) } } : end;
}

type StatusFields = Pick<EmittedResponse, "status" | "error" | "incomplete_details">;

/** The API knows fewer endings than a run has; every limit is `incomplete` there. */
function toStatus({ ending, message, error }: RunEnd): StatusFields {
  const none = { error: null, incomplete_details: null };
  switch (ending) {
    case "completed":
      return { ...none, status: "completed" };
    case "refused":
      return { ...none, status: "incomplete", incomplete_details: { reason: "content_filter" } };
    case "cancelled":
      return { ...none, status: "cancelled" };
    case "max_turns":
    case "budget":
    case "timeout":
      return { ...none, status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    case "failed": {
      const code = error?.code === "provider_overloaded" ? "rate_limit_exceeded" : "server_error";
      return { ...none, status: "failed", error: { code, message: error?.message ?? message } };
    }
  }
}

/** Of a team, what its first agent says. */
export function toOutputText(output: readonly EmittedItem[]): string {
  let text = "";
  for (const item of output) {
    if (item.type !== "message" || typeof item.content === "string") continue;
    if ((item.agent?.agent_name ?? ROOT) !== ROOT) continue;
    for (const part of item.content) if (part.type === "output_text") text += part.text;
  }
  return text;
}
