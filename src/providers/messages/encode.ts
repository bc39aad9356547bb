/** Encodes a model request as a body of the Messages API. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { markFor } from "../cache-marks.ts";
import { allowedTools } from "../offered-tools.ts";
import type { ModelRequest, OutputFormat } from "../provider.ts";
import { type Quirks, toBody } from "../wire.ts";
import { markCached } from "./cache.ts";
import { encodeText } from "./content.ts";
import { encodeOptions, omittedOptions } from "./options.ts";
import { toOutputSchema } from "./output-schema.ts";
import type { MessagesBody, MessagesOutputConfig } from "./schema.ts";
import { encodeLimits, isThinking, type ThinkingLimits } from "./thinking.ts";
import { encodeToolChoice, encodeTools } from "./tools.ts";
import { encodeConversation } from "./turns.ts";

export function encodeRequest(request: ModelRequest, quirks: Quirks): JsonObject {
  const { refuses = [] } = quirks;
  const body = encodeBody(request, quirks);
  const { system = [], tools = [], messages: turns } = body;
  const mark = markFor(request.options?.prompt_cache_retention) ?? { type: "ephemeral" };
  if (!refuses.includes("cache_control")) markCached({ system, tools, turns }, mark);
  return toBody(body as unknown as JsonObject, quirks);
}

/** The body, with undefined for absent fields and without cache marks. */
export function encodeBody(request: ModelRequest, quirks: Quirks): MessagesBody {
  const { system: said, turns, container } = encodeConversation(request.items);
  const system = [...encodeText(request.instructions ?? ""), ...said];
  const tools = encodeTools(allowedTools(request.tools, request.tool_choice));
  const limits = encodeLimits(request, turns, quirks);
  return {
    model: request.model,
    max_tokens: limits.max_tokens,
    stream: true,
    system: system.length > 0 ? system : undefined,
    messages: turns,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? encodeToolChoice(request) : undefined,
    thinking: limits.thinking,
    output_config: encodeOutput(request.format, limits),
    ...encodeSampling(request, limits),
    container,
    ...(request.options && encodeOptions(request.options)),
  };
}

/** The parameters that this body leaves out. */
export function omitsOf(request: ModelRequest, quirks: Quirks): readonly string[] {
  const sampling = omittedSampling(request, quirks);
  return request.options ? [...sampling, ...omittedOptions(request.options, quirks)] : sampling;
}

function omittedSampling(request: ModelRequest, quirks: Quirks): readonly string[] {
  const { temperature, top_p } = request;
  if (temperature === undefined && top_p === undefined) return [];
  // Whether the model may think in the middle of a turn depends on the turn.
  const limits = encodeLimits(request, encodeConversation(request.items).turns, quirks);
  const sent = encodeSampling(request, limits);
  return [
    ...(temperature !== sent.temperature ? ["temperature"] : []),
    ...(top_p !== sent.top_p ? ["top_p"] : []),
  ];
}

/** The API refuses these while the model thinks; every model since 4.1 refuses both at once. */
function encodeSampling(
  { temperature, top_p }: ModelRequest,
  limits: ThinkingLimits,
): Pick<MessagesBody, "temperature" | "top_p"> {
  if (isThinking(limits)) return {};
  return { temperature, top_p: temperature === undefined ? top_p : undefined };
}

function encodeOutput(
  format: OutputFormat,
  { effort }: ThinkingLimits,
): MessagesOutputConfig | undefined {
  if (format.type === "json_object") {
    const message = "Claude has no mode for a JSON object without a schema. Give a schema with it.";
    throw new Failure("invalid_request", message, { param: "text.format" });
  }
  if (format.type === "text") return effort && { effort };
  const schema = toOutputSchema(format.schema);
  return { ...(effort && { effort }), format: { type: "json_schema", schema } };
}
