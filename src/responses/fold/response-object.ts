/** The Response object of a run: its start, and how an ending changes it. */

import type { Failure } from "../../base/failure.ts";
import { toToldMessage } from "../../base/server-fault.ts";
import type { EmittedItem, EmittedResponse } from "../../protocol/emitted.ts";
import type { TextFormat } from "../../protocol/request.ts";
import type { RunEnd, RunSettings, RunStart } from "../../protocol/run-events.ts";
import { ECHO_DEFAULTS, toShownFormat } from "../request/echo.ts";
import type { Echo, ResponseSettings } from "../request/response-settings.ts";
import { ROOT } from "./agent-name.ts";
import { tellIgnored } from "./ignored.ts";

/** `resp_01k…` for the run `run_01k…`: one thing under two names. */
export function toResponseId(runId: string): string {
  return `resp_${runId.startsWith("run_") ? runId.slice(4) : runId}`;
}

/** The fields of a run's beginning that are shown unless a request sets them. */
type Beginning = Pick<RunStart, "run_id" | "created_at_ms"> & {
  readonly settings: Pick<
    RunSettings,
    "model" | "instructions" | "temperature" | "max_output_tokens" | "think" | "format"
  >;
};

/** For an answer without a run: only the request's own fields are shown. */
export const NO_RUN: Beginning["settings"] = {
  model: "",
  instructions: null,
  temperature: null,
  max_output_tokens: null,
  think: false,
  format: { type: "text" },
};

/**
 * A response with every field and no content. It is copied and then filled in field by field: an object that is
 * spread and then overwritten costs ten times as much (bench/gateway.ts).
 */
export const BLANK_RESPONSE: Readonly<EmittedResponse> = {
  id: "",
  object: "response",
  created_at: 0,
  completed_at: null,
  status: "in_progress",
  error: null,
  incomplete_details: null,
  output: [],
  output_text: "",
  usage: null,
  access_programs: null,
  ...ECHO_DEFAULTS,
};

/** The response before there is output. `request` is the client's request, if there is one. */
export function toResponse(
  { run_id, created_at_ms, settings }: Beginning,
  request?: ResponseSettings,
): EmittedResponse {
  const response: EmittedResponse = { ...BLANK_RESPONSE };
  if (request) repeatRequest(response, request);
  else fillSettings(response, settings);
  response.id = toResponseId(run_id);
  response.created_at = Math.floor(created_at_ms / 1000);
  return response;
}

function repeatRequest(
  response: EmittedResponse & Record<string, unknown>,
  { echo, ignored }: ResponseSettings,
): void {
  for (const name in echo) response[name] = echo[name as keyof Echo];
  if (echo.background) response.status = "queued";
  tellIgnored(response, echo.metadata, ignored);
}

/** For a run that answers no request. */
function fillSettings(response: EmittedResponse, settings: Beginning["settings"]): void {
  const { think, temperature, format } = settings;
  response.instructions = settings.instructions;
  response.model = settings.model;
  response.max_output_tokens = settings.max_output_tokens;
  response.reasoning = think ? { effort: "high", summary: "detailed" } : null;
  response.reasoning_effort = think ? "high" : null;
  response.text = { format: toShownFormat(format as unknown as TextFormat) };
  if (temperature !== null) response.temperature = temperature;
}

export function toRunId(responseId: string): string {
  return `run_${responseId.replace(/^resp_/, "")}`;
}

/** The response at the end of the run. */
export function endResponse(
  response: EmittedResponse,
  end: RunEnd,
  output: readonly EmittedItem[],
): EmittedResponse {
  const ended = { ...response };
  fillEnd(ended, end, output);
  return ended;
}

/**
 * The response in a stream that cannot continue. Its usage is not known before its run has ended.
 */
export function breakResponse(
  response: EmittedResponse,
  failure: Failure,
  output: readonly EmittedItem[],
): EmittedResponse {
  const message = toToldMessage(failure);
  return {
    ...response,
    status: "failed",
    error: { code: "server_error", message },
    incomplete_details: null,
    output: [...output],
    output_text: toOutputText(output),
  };
}

/** Changes the response in place, for code that has made it and not passed it on. */
export function fillEnd(
  response: EmittedResponse,
  end: RunEnd,
  output: readonly EmittedItem[],
): void {
  const { status, error, incomplete_details } = toStatus(end, output);
  response.status = status;
  response.error = error;
  response.incomplete_details = incomplete_details;
  response.completed_at = status === "completed" ? Math.floor(end.at_ms / 1000) : null;
  response.output = [...output];
  response.output_text = toOutputText(output);
  response.usage = end.usage;
  if (end.stop) response.offshoot = { ignored: [], ...response.offshoot, stop: end.stop };
}

/** Removes the details of a failure that only the operator may see. */
export function withToldError(end: RunEnd): RunEnd {
  return end.error ? { ...end, error: { ...end.error, message: toToldMessage(end.error) } } : end;
}

type StatusFields = Pick<EmittedResponse, "status" | "error" | "incomplete_details">;

/** The API has fewer endings than a run; every limit is `incomplete` there. */
export function toStatus(
  { ending, message, error }: RunEnd,
  output: readonly EmittedItem[],
): StatusFields {
  if (ending === "refused" && isRefusal(output)) return STATUSES.completed;
  if (ending !== "failed") return STATUSES[ending];
  // The published list of codes is closed: typed clients know no other code.
  const code = error?.code === "provider_overloaded" ? "rate_limit_exceeded" : "server_error";
  const told = { code, message: error?.message ?? message } as const;
  return { status: "failed", error: told, incomplete_details: null };
}

/**
 * True if the answer is a refusal and nothing else. A vendor that stops an answer adds a refusal after the cut words,
 * or after none.
 */
function isRefusal(output: readonly EmittedItem[]): boolean {
  const last = output.at(-1);
  if (last?.type !== "message" || output.at(-2)?.type === "message") return false;
  return last.content.length > 0 && last.content.every(({ type }) => type === "refusal");
}

const CUT: StatusFields = {
  status: "incomplete",
  error: null,
  incomplete_details: { reason: "max_output_tokens" },
};

const STATUSES: Readonly<Record<Exclude<RunEnd["ending"], "failed">, StatusFields>> = {
  completed: { status: "completed", error: null, incomplete_details: null },
  cancelled: { status: "cancelled", error: null, incomplete_details: null },
  refused: { ...CUT, incomplete_details: { reason: "content_filter" } },
  max_turns: CUT,
  budget: CUT,
  timeout: CUT,
};

/** For a team, the text of its first agent. */
export function toOutputText(output: readonly EmittedItem[]): string {
  let text = "";
  for (const item of output) {
    if (item.type !== "message" || typeof item.content === "string") continue;
    if ((item.agent?.agent_name ?? ROOT) !== ROOT) continue;
    for (const part of item.content) if (part.type === "output_text") text += part.text;
  }
  return text;
}
