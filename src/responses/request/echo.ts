/** The fields of an answer that repeat its request, with what holds where the request says nothing. */

import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { CreateResponse, TextFormat } from "../../protocol/request.ts";
import type { Tool } from "../../protocol/tools.ts";
import { hideSecrets } from "./hide-secrets.ts";

interface Asked {
  readonly request: CreateResponse;
  readonly store: boolean;
  readonly background: boolean;
}

/** What was found outside of the request. */
interface Known {
  readonly instructions: string | null;
  /** Where the request names none. */
  readonly model: string;
}

export function toEcho(
  { request, store, background }: Asked,
  { instructions, model }: Known,
): Partial<EmittedResponse> {
  const { conversation, reasoning, text, tools } = request;
  const effort = reasoning?.effort ?? null;
  return {
    instructions,
    store,
    background,
    model: request.model || model,
    metadata: request.metadata ?? {},
    previous_response_id: request.previous_response_id ?? null,
    conversation: conversation ? { id: toConversationId(conversation) } : null,
    tools: tools ? tools.map(toShownTool) : [],
    tool_choice: (request.tool_choice ?? "auto") as EmittedResponse["tool_choice"],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    reasoning: { effort, summary: toSummary(reasoning) },
    reasoning_effort: effort,
    text: toText(text),
    truncation: request.truncation ?? "disabled",
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    ...toSampling(request),
    ...toService(request),
  };
}

/** Every field of a function is there, null where it was not given. */
function toShownTool(tool: Tool): Tool {
  const shown = hideSecrets(tool);
  if (shown.type !== "function") return shown;
  const { description = null, parameters = null, strict = null } = shown;
  return { ...shown, description, parameters, strict };
}

function toSampling(request: CreateResponse): Partial<EmittedResponse> {
  return {
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    top_logprobs: request.top_logprobs ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    presence_penalty: request.presence_penalty ?? 0,
  };
}

/** Those at the end are there only where they were given. */
function toService(request: CreateResponse): Partial<EmittedResponse> {
  const { service_tier, prompt, prompt_cache_retention } = request;
  return {
    service_tier: service_tier && service_tier !== "auto" ? service_tier : "default",
    safety_identifier: request.safety_identifier ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    user: request.user ?? null,
    ...(prompt ? { prompt } : {}),
    ...(prompt_cache_retention ? { prompt_cache_retention } : {}),
  };
}

function toSummary(
  reasoning: CreateResponse["reasoning"],
): NonNullable<EmittedResponse["reasoning"]>["summary"] {
  return reasoning?.summary ?? reasoning?.generate_summary ?? null;
}

function toText(text: CreateResponse["text"]): EmittedResponse["text"] {
  const format = toShownFormat(text?.format);
  return text?.verbosity ? { format, verbosity: text.verbosity } : { format };
}

export function toConversationId(
  conversation: NonNullable<CreateResponse["conversation"]>,
): string {
  return typeof conversation === "string" ? conversation : conversation.id;
}

/** As answers show it: with every field that its readers rely on. */
export function toShownFormat(format: TextFormat | null | undefined): TextFormat {
  if (!format) return { type: "text" };
  if (format.type !== "json_schema") return format;
  return { ...format, description: format.description ?? null, strict: format.strict ?? false };
}
