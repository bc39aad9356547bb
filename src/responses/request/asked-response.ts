/** The request of a response as a client has sent it: its form is checked, and unknown parameters are named. */

import type { AgentTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import {
  CreateResponse,
  INCLUDES,
  parseCreateResponse,
  type TextFormat,
} from "../../protocol/request.ts";
import type { Tool } from "../../protocol/tools.ts";

/** A parsed request, before it is known what it continues. */
export interface AskedResponse {
  readonly request: CreateResponse;
  readonly stream: boolean;
  readonly store: boolean;
  readonly background: boolean;
  readonly ignored: readonly string[];
  /** Fields that are not parameters, for the vendor; undefined if there are none. */
  readonly extras: JsonObject | undefined;
  /** Settings that no request can carry; left out for a request of a client. */
  readonly preset?: ResponsePreset | undefined;
}

/**
 * Settings of a response that this server makes itself, for an agent that it offers: the agent's own limits.
 */
export interface ResponsePreset
  extends Partial<
    Pick<AgentTask, "agent" | "max_turns" | "options" | "approval_wait_ms" | "mcp_depth">
  > {
  readonly timeoutMs?: number | undefined;
  /** The fields that the answer repeats of its request if the server has replaced them. */
  readonly repeats?: Repeated | undefined;
}

/** Fields of a request as its client wrote them. */
export interface Repeated {
  readonly model: string;
  readonly instructions: string | null;
  readonly tools: readonly Tool[];
}

export interface RequestDefaults {
  /** True to store a response if the request does not say. */
  readonly store: boolean;
}

/** Rejects an invalid field by its name, and fields that contradict each other. */
export function parseAsked(body: unknown, defaults: RequestDefaults): AskedResponse {
  const request = parseCreateResponse(body);
  const store = request.store ?? defaults.store;
  const background = request.background ?? false;
  if (request.previous_response_id && request.conversation) {
    throw invalid(
      "`conversation` and `previous_response_id` cannot both be given.",
      "previous_response_id",
    );
  }
  if (background && !store) throw invalid("`background` needs `store: true`.", "background");
  const hasInput = request.input !== null && request.input !== undefined;
  const isContinuation = request.previous_response_id || request.conversation || request.prompt;
  if (!hasInput && !isContinuation) throw invalid("`input` is missing.", "input");
  checkFormat(request.text?.format);
  return {
    request,
    stream: request.stream ?? false,
    store,
    background,
    ignored: (request.include ?? []).filter(isUnknownInclude).map((name) => `include (${name})`),
    extras: findExtras(request as JsonObject),
  };
}

function findExtras(request: JsonObject): JsonObject | undefined {
  let extras: Record<string, Json> | undefined;
  for (const name in request) {
    const value = request[name];
    if (KNOWN_PARAMETERS.has(name) || value === undefined || value === null) continue;
    extras ??= {};
    extras[name] = value;
  }
  return extras;
}

const FORMATS: ReadonlySet<string> = new Set(["text", "json_object", "json_schema"]);

/** Plain text instead would be an answer that its reader cannot use. */
function checkFormat(format: TextFormat | null | undefined): void {
  if (!format || FORMATS.has(format.type)) return;
  const known = [...FORMATS].join(", ");
  const message = `\`text.format.type\` must be one of ${known}, not \`${clip(format.type, 60)}\`.`;
  throw invalid(message, "text.format.type");
}

/** Clients ask for fields that newer servers have; only those fields are missing then. */
function isUnknownInclude(name: string): boolean {
  return !INCLUDES.some((known) => known === name);
}

function invalid(message: string, param: string): Failure {
  return new Failure("invalid_request", message, { param });
}

/** Known to clients of certain servers, without effect here. */
const TOLERATED = ["generate", "client_metadata", "stream_id", "betas"];

/** The parameters of a request that have an effect; others are listed in the answer as left out. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...Object.keys(CreateResponse.shape),
  ...TOLERATED,
]);
