/**
 * The fields of an answer that repeat its request, with the defaults for fields that the request left out.
 */

import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { CreateResponse, TextFormat } from "../../protocol/request.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Provider } from "../../providers/provider.ts";
import { hideSecrets } from "./hide-secrets.ts";
import type { Echo } from "./response-settings.ts";

interface Asked {
  readonly request: CreateResponse;
  readonly store: boolean;
  readonly background: boolean;
}

/** Facts that were found outside of the request. */
interface Known {
  readonly instructions: string | null;
  /** For a request that names none. */
  readonly model: string;
}

export function toEcho(asked: Asked, known: Known): Echo {
  const echo = { ...ECHO_DEFAULTS };
  fillEcho(echo, asked, known);
  return echo;
}

/** `out` already has the defaults. */
export function fillEcho(
  echo: Echo & Record<string, unknown>,
  { request, store, background }: Asked,
  { instructions, model }: Known,
): void {
  const { conversation, reasoning, text, tools, service_tier } = request;
  echo.instructions = instructions;
  echo.store = store;
  echo.background = background;
  echo.model = request.model || model;
  for (const name in request) {
    const value = request[name as keyof CreateResponse];
    if (ECHOED.has(name) && value !== null) echo[name] = value;
  }
  if (conversation) echo.conversation = { id: toConversationId(conversation) };
  if (tools) echo.tools = tools.map(toShownTool);
  if (reasoning)
    echo.reasoning = { effort: reasoning.effort ?? null, summary: toSummary(reasoning) };
  echo.reasoning_effort = reasoning?.effort ?? null;
  if (text) echo.text = toText(text);
  if (service_tier && service_tier !== "auto") echo.service_tier = service_tier;
}

/** The service tier in the answer: a tier that the model's API does not know has no effect. */
export function toUsedTier(
  { service_tier }: Pick<Echo, "service_tier">,
  { omits }: Pick<Provider, "omits">,
): Echo["service_tier"] {
  if (service_tier === ECHO_DEFAULTS.service_tier) return service_tier;
  const isLost = omits?.({ service_tier: service_tier }).includes("service_tier") === true;
  return isLost ? ECHO_DEFAULTS.service_tier : service_tier;
}

/** The values for fields that a request left out. */
export const ECHO_DEFAULTS: Readonly<Echo> = {
  instructions: null,
  store: false,
  background: false,
  model: "",
  metadata: {},
  previous_response_id: null,
  conversation: null,
  tools: [],
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { effort: null, summary: null },
  reasoning_effort: null,
  text: { format: { type: "text" } },
  truncation: "disabled",
  max_output_tokens: null,
  max_tool_calls: null,
  temperature: 1,
  top_p: 1,
  top_logprobs: 0,
  frequency_penalty: 0,
  presence_penalty: 0,
  service_tier: "default",
  safety_identifier: null,
  prompt_cache_key: null,
  user: null,
};

/** Fields that are shown as they were given. */
const ECHOED: ReadonlySet<string> = new Set<keyof Echo & keyof CreateResponse>([
  ...(["metadata", "previous_response_id", "tool_choice", "parallel_tool_calls"] as const),
  ...(["truncation", "max_output_tokens", "max_tool_calls", "temperature", "top_p"] as const),
  ...(["top_logprobs", "frequency_penalty", "presence_penalty", "safety_identifier"] as const),
  ...(["prompt_cache_key", "user", "prompt", "prompt_cache_retention"] as const),
]);

/** Every field of a function is there, null if it was not given. */
function toShownTool(tool: Tool): Tool {
  const shown = hideSecrets(tool);
  if (shown.type !== "function") return shown;
  const { description = null, parameters = null, strict = null } = shown;
  return { ...shown, description, parameters, strict };
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

/** In the form of answers: with every field that its readers rely on. */
export function toShownFormat(format: TextFormat | null | undefined): TextFormat {
  if (!format) return { type: "text" };
  if (format.type !== "json_schema") return format;
  return { ...format, description: format.description ?? null, strict: format.strict ?? false };
}
