/** The response object of the real API, and the items in its output, complete as it sends them. */

import { asJsonObject, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type { EndReason } from "../../protocol/model-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import { sealReasoning } from "./reasoning-seal.ts";

/** The fields of a response that are known before its answer. */
export interface ResponseHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** The request. */
  readonly body: JsonObject;
}

/** How complete the answer is. */
export interface ResponseState {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly output: readonly JsonObject[];
  readonly usage: Usage | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export const IN_PROGRESS: ResponseState = {
  status: "in_progress",
  output: [],
  usage: null,
  error: null,
};

export function toResponse(head: ResponseHead, state: ResponseState): JsonObject {
  return {
    ...DEFAULTS,
    ...toSettings(head.body),
    id: head.id,
    created_at: head.createdAt,
    status: state.status,
    completed_at: state.status === "completed" ? head.createdAt : null,
    error: state.error,
    incomplete_details: state.status === "incomplete" ? { reason: reasonOf(state) } : null,
    output: state.output,
    usage: state.usage as JsonObject | null,
  };
}

/** A finished answer's state. A refusal in the model's own words is a complete answer. */
export function endState(
  reason: EndReason,
  output: readonly JsonObject[],
  usage: Usage,
): ResponseState {
  const isFiltered = reason === "refusal" && !JSON.stringify(output).includes('"type":"refusal"');
  const status = reason === "length" || isFiltered ? "incomplete" : "completed";
  return { status, output, usage, error: null };
}

function toSeal(
  { encrypted_content }: Extract<Item, { type: "reasoning" }>,
  id: string,
  account: string | undefined,
): JsonObject {
  if (account === undefined) return {};
  return { encrypted_content: encrypted_content ?? sealReasoning(id, account) };
}

/** The item as the real API writes it. `status` overrides the item's own, as an open one needs. */
export function toOutputItem(
  item: Item,
  { id, sealed, status }: { id: string; sealed: string | undefined; status?: "in_progress" },
): JsonObject {
  if (item.type === "reasoning") {
    const content = item.content ? { content: item.content } : {};
    const seal = toSeal(item, id, sealed);
    return { id, type: "reasoning", summary: item.summary, ...content, ...seal } as JsonObject;
  }
  const itemStatus = status ?? ("status" in item && item.status ? item.status : "completed");
  if (item.type === "message") {
    const content =
      typeof item.content === "string"
        ? [{ type: "output_text", text: item.content }]
        : item.content;
    const parts = status ? [] : content.map((part) => toOutputPart(part as JsonObject));
    return { id, type: "message", status: itemStatus, content: parts, role: "assistant" };
  }
  return { ...asJsonObject(item), id, status: itemStatus };
}

export function toOutputPart(part: JsonObject): JsonObject {
  if (part["type"] !== "output_text") return part;
  return { ...part, annotations: part["annotations"] ?? [], logprobs: part["logprobs"] ?? [] };
}

/** The values in a response for settings that the request left out. */
const DEFAULTS: JsonObject = {
  object: "response",
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  prompt_cache_retention: null,
  safety_identifier: null,
  service_tier: "default",
  store: true,
  temperature: 1,
  tool_choice: "auto",
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
};

/** Settings that are returned unchanged, under the names of the defaults, and the composed ones. */
function toSettings(body: JsonObject): JsonObject {
  const given = Object.keys(DEFAULTS).filter(
    (name) => body[name] !== undefined && body[name] !== null,
  );
  return {
    ...Object.fromEntries(given.map((name) => [name, body[name]])),
    model: body["model"],
    reasoning: { effort: null, summary: null, ...toObject(body["reasoning"]) },
    text: { format: { type: "text" }, verbosity: "medium", ...toObject(body["text"]) },
    tools: toResponseTools(body["tools"]),
  };
}

function toObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function reasonOf({ output }: ResponseState): string {
  const isCut = output.some((item) => item["status"] === "incomplete");
  return isCut ? "max_output_tokens" : "content_filter";
}

function toResponseTools(tools: Json | undefined): Json {
  if (!Array.isArray(tools)) return [];
  return tools.filter(isJsonObject).map((tool) => {
    if (tool["type"] !== "function") return tool;
    const { description = null, parameters = null, strict = true } = tool;
    return { ...tool, description, parameters, strict };
  });
}
