/**
 * Plans a request of the Responses API as a task for a run: every parameter is applied, refused by name, or listed as
 * left out. Pure; data from outside (models, stored things) is passed in.
 */

import type { Limits } from "../../agent/limits.ts";
import type { AgentTask } from "../../agent/task.ts";
import type { Item } from "../../protocol/items.ts";
import type { CreateResponse, TextFormat } from "../../protocol/request.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import type { ModelOptions, OutputFormat, ReasoningOptions } from "../../providers/provider.ts";
import type { ModelTarget } from "../models/model-target.ts";
import type { Caller } from "../tenant/caller.ts";
import type { AskedResponse } from "./asked-response.ts";
import { toEcho } from "./echo.ts";
import type { Echo } from "./response-settings.ts";
import { encodeWish, type ResponseWish } from "./response-wish.ts";

/** The context that was found for a request outside of it. */
export interface FoundForRequest {
  readonly caller: Caller;
  /** The model in the form of the record, and how to reach it. */
  readonly model: ModelTarget;
  /** The request's own items: references resolved, files read. */
  readonly items: readonly Item[];
  readonly instructions: string | null;
  readonly conversation: ResponseWish["conversation"];
  readonly root: string;
  /** Tools with sealed secrets, including those that came as items. */
  readonly tools: readonly Tool[];
}

export interface Planned {
  readonly task: AgentTask;
  readonly wish: ResponseWish;
}

export function planResponse(asked: AskedResponse, found: FoundForRequest): Planned {
  const wish = toWish(asked, found);
  return { wish, task: toTask(asked, found, wish) };
}

function toWish(asked: AskedResponse, found: FoundForRequest): ResponseWish {
  const { request, store, background, stream, ignored, extras } = asked;
  const { caller, model, items, instructions, conversation, tools } = found;
  const multi = request.multi_agent?.enabled ? request.multi_agent : undefined;
  const compaction = request.context_management?.find(({ type }) => type === "compaction");
  return {
    tenant: caller.tenant,
    key_id: caller.keyId,
    echo: toRepeated(asked, { instructions, model: model.model }),
    include: request.include ?? [],
    ignored,
    tools,
    top_p: request.top_p ?? undefined,
    parallel_tool_calls: request.parallel_tool_calls ?? undefined,
    reasoning: toReasoning(request),
    options: pickOptions(request),
    extras,
    previous_response_id: request.previous_response_id ?? null,
    conversation,
    background,
    store,
    truncation: request.truncation ?? "disabled",
    compact_threshold: compaction?.compact_threshold ?? null,
    is_compaction: items.at(-1)?.type === "compaction_trigger",
    multi_agent: multi ? { max_concurrent: multi.max_concurrent_subagents ?? 3 } : null,
    whole: !background && !stream,
    catalogue: caller.catalogue,
    kinds: caller.kinds ?? null,
  };
}

function toRepeated(asked: AskedResponse, known: Parameters<typeof toEcho>[1]): Echo {
  const repeats = asked.preset?.repeats;
  if (!repeats) return toEcho(asked, known);
  const request = { ...asked.request, ...repeats, tools: [...repeats.tools] };
  return toEcho({ ...asked, request }, { ...known, instructions: repeats.instructions });
}

function toTask(
  { request, preset = {} }: AskedResponse,
  found: FoundForRequest,
  wish: ResponseWish,
): AgentTask {
  const { model, items, instructions, root } = found;
  const { timeoutMs: _, repeats: __, ...own } = preset;
  return {
    model: model.model,
    provider: model.provider,
    url: model.url,
    api_key_name: model.api_key_name,
    deployments: model.deployments,
    model_reason: "asked for",
    ...(model.fell_back && { fell_back: true }),
    instructions,
    items: wish.is_compaction ? items.filter(({ type }) => type !== "compaction_trigger") : items,
    tools: [],
    tool_choice: (request.tool_choice ?? "auto") as ToolChoice,
    max_turns: MAX_TURNS,
    temperature: request.temperature ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    think: false,
    options: request.options ?? null,
    format: toFormat(request.text?.format),
    root,
    approve: "auto",
    sandbox: "process",
    grant: [],
    limits: toLimits(request, found.caller),
    label: null,
    depth: 0,
    summary_prompt: null,
    on_throw: "tell_model",
    // For its subagents: the request itself decides about its own conversation.
    compact: "auto",
    response: encodeWish(wish),
    ...own,
  };
}

function toLimits({ max_tool_calls }: CreateResponse, { limits }: Caller): Limits {
  if (max_tool_calls === undefined || max_tool_calls === null) return limits;
  return { ...limits, tool_calls: least(max_tool_calls, limits.tool_calls) };
}

/** A client sees no turns: an answer is bounded by its tokens, its tool calls and its budget. */
const MAX_TURNS = 200;

function least(a: number, b: number | null): number {
  return b === null ? a : Math.min(a, b);
}

export function toReasoning({ reasoning }: CreateResponse): ReasoningOptions {
  return {
    effort: reasoning?.effort ?? undefined,
    summary: reasoning?.summary ?? reasoning?.generate_summary ?? undefined,
    ...(reasoning?.display === "omitted" ? { display: reasoning.display } : {}),
  };
}

/**
 * Parameters of a request that not every API has. A value without effect (a penalty of 0) is not passed on.
 */
export function pickOptions(request: CreateResponse): ModelOptions {
  const { stop, include, text, top_logprobs } = request;
  const options: OpenOptions & Record<string, unknown> = {};
  for (const name in request) {
    const value = request[name as keyof CreateResponse];
    if (AS_GIVEN.has(name) && value) options[name] = value;
  }
  if (stop) options.stop = typeof stop === "string" ? [stop] : stop;
  if (include?.includes("message.output_text.logprobs")) options.top_logprobs = 0;
  if (typeof top_logprobs === "number") options.top_logprobs = top_logprobs;
  if (text?.verbosity) options.verbosity = text.verbosity;
  return options;
}

type OpenOptions = { -readonly [Name in keyof ModelOptions]: ModelOptions[Name] };

/** Parameters that go to the model's API unchanged. */
const AS_GIVEN: ReadonlySet<string> = new Set<keyof ModelOptions & keyof CreateResponse>([
  "frequency_penalty",
  "presence_penalty",
  "service_tier",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
]);

export function toFormat(format: TextFormat | null | undefined): OutputFormat {
  if (format?.type === "json_object") return { type: "json_object" };
  if (format?.type !== "json_schema") return { type: "text" };
  const { name, description, schema, strict } = format;
  const described = description ? { description } : {};
  return { type: "json_schema", name, ...described, schema, strict: strict ?? false };
}
