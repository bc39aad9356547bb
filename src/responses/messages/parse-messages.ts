/**
 * A request of the Messages API as one of the Responses API. Clients bring the whole conversation each time, so
 * nothing is looked up for it; it is stored where the client names its session, or asks for it.
 */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { THINKING_BUDGETS } from "../../protocol/messages-blocks.ts";
import type { CreateResponse, Effort, ServiceTier } from "../../protocol/request.ts";
import { type AppliedEdit, editContext } from "./context-edits.ts";
import { toMessagesItems } from "./messages-items.ts";
import { type MessagesRequest, parseMessagesRequest, type TextParam } from "./messages-request.ts";
import { toTools } from "./messages-tools.ts";
import { isPlainMessages } from "./plain-messages.ts";

/** What is known of the model behind a name before it is asked. */
export interface Upstream {
  /** Whether its server is Anthropic's, or speaks for it: the vendor's own words go on to it. */
  readonly isVendor: boolean;
  /** Whether it may think where nobody asks, and can be told not to. */
  readonly canStopThinking: boolean;
  readonly maxOutputTokens: number | undefined;
  readonly contextTokens: number | undefined;
}

export interface Asking {
  readonly upstreamOf: (model: string | null | undefined) => Upstream;
  /** The client's own session, which its runs are grouped by. */
  readonly session?: string | undefined;
}

/** How the client wants to be answered. */
export interface MessagesAnswer {
  /** The name that was asked for; the model's own where none was. */
  readonly model: string | undefined;
  /** `hidden` shows no thoughts; `omitted` shows that there were some. */
  readonly thinking: "shown" | "omitted" | "hidden";
  readonly applied: readonly AppliedEdit[];
  /** Ids of calls that the conversation has: those of new ones differ from them. */
  readonly takenIds: ReadonlySet<string>;
  /** What of the request was left out. */
  readonly ignored: readonly string[];
  /** The texts at which the model was to stop. */
  readonly stops: readonly string[];
  /** How many tokens the model's window has; undefined where nobody knows. */
  readonly contextTokens: number | undefined;
}

export interface ParsedMessages {
  readonly request: CreateResponse;
  readonly answer: MessagesAnswer;
  readonly upstream: Upstream;
}

/** Rejects with `Failure("invalid_request")` and the field at fault, as `parseCreateResponse` does. */
export function toCreateResponse(body: unknown, asking: Asking): ParsedMessages {
  const given = parseMessagesRequest(body);
  const upstream = asking.upstreamOf(given.model);
  if (isPlainMessages(given)) return toPlain(given, asking, upstream);
  refuseThread(given);
  const { items, ignored, references } = toMessagesItems(given.messages);
  const system = toSystem(given.system, upstream.isVendor);
  const tools = toTools(given, { isVendor: upstream.isVendor, references });
  const instructions = system.instructions === "" ? {} : { instructions: system.instructions };
  const edits = given.context_management?.edits ?? [];
  const context = editContext([...system.items, ...items], edits, {
    ...instructions,
    ...tools.fields,
  });
  const thinking = toThinking(given, upstream);
  const hasTools = tools.fields.tools !== undefined;
  const request: CreateResponse = {
    ...(given.model ? { model: given.model } : {}),
    input: [...context.items],
    ...instructions,
    ...toSampling(given, upstream),
    ...toService(given, asking, upstream),
    ...tools.fields,
    ...context.fields,
    ...toFormat(given),
    ...thinking.fields,
    ...toInclude(given, thinking.shows, hasTools),
  };
  return {
    request,
    upstream,
    answer: {
      model: given.model ?? undefined,
      thinking: thinking.shows,
      applied: context.applied,
      takenIds: toCallIds(items),
      stops: given.stop_sequences ?? NOTHING,
      contextTokens: upstream.contextTokens,
      ignored: [
        ...ignored,
        ...tools.ignored,
        ...context.ignored,
        ...thinking.ignored,
        ...leftOut(given),
      ],
    },
  };
}

const NO_IDS: ReadonlySet<string> = new Set();
const NOTHING: readonly never[] = [];

/** Words alone, with no blocks and no tools: most requests to a gateway, at a third of the cost. */
function toPlain(given: MessagesRequest, asking: Asking, upstream: Upstream): ParsedMessages {
  const { model, messages, system, stream, max_tokens, temperature, top_p } = given;
  const request: CreateResponse = {
    input: messages.map(({ role, content }) => ({
      type: "message",
      role,
      content: content as string,
    })),
    store: false,
  };
  if (model) request.model = model;
  if (typeof system === "string" && system !== "") request.instructions = system;
  if (max_tokens) request.max_output_tokens = clamp(max_tokens, upstream);
  if (typeof temperature === "number") request.temperature = temperature;
  if (typeof top_p === "number") request.top_p = top_p;
  if (stream) request.stream = true;
  if (upstream.canStopThinking) request.reasoning = { effort: "none" };
  if (asking.session !== undefined)
    Object.assign(request, { store: undefined }, toService(given, asking, upstream));
  const answer: MessagesAnswer = {
    model: model ?? undefined,
    thinking: "hidden",
    applied: NOTHING,
    takenIds: NO_IDS,
    ignored: NOTHING,
    stops: NOTHING,
    contextTokens: upstream.contextTokens,
  };
  return { request, upstream, answer };
}

/** A client's usual limit may be more than the model behind the name has. */
function clamp(tokens: number, { maxOutputTokens }: Upstream): number {
  return maxOutputTokens === undefined ? tokens : Math.min(tokens, maxOutputTokens);
}

/** Where a client looks for it in an error, to go on without a thread by itself. */
export const NO_THREADS = "thread_unsupported_request";

/** A conversation that the server holds. Ignored, the client would send the next turn without those before it. */
function refuseThread(given: MessagesRequest): void {
  const { thread } = given as { thread?: unknown };
  if (thread === undefined || thread === null) return;
  const message = "This server keeps no message threads. Send all messages, without `thread`.";
  throw new Failure("invalid_request", message, { param: "thread", vendorCode: NO_THREADS });
}

/**
 * Claude Code begins with a line that tells its vendor whom to bill. Its value changes, which would end every
 * cache of the prompt behind it, and it means nothing to anybody else.
 */
const ATTRIBUTION = /^x-anthropic-billing-header:/;

interface System {
  readonly instructions: string;
  /** What follows the first block, for the vendor: each block may end a prefix that is cached. */
  readonly items: readonly Item[];
}

function toSystem(system: MessagesRequest["system"], isVendor: boolean): System {
  if (typeof system === "string" || !system) return { instructions: system ?? "", items: [] };
  if (isVendor) {
    const [first, ...rest] = system.filter(({ text }) => text.trim() !== "");
    return { instructions: first?.text ?? "", items: rest.map(toSystemItem) };
  }
  const told = system.filter(({ text }) => !ATTRIBUTION.test(text) && text !== "");
  return { instructions: told.map(({ text }) => text).join("\n\n"), items: [] };
}

function toSystemItem({ text, cache_control }: TextParam): Item {
  const mark = cache_control ? { prompt_cache_breakpoint: { mode: "explicit" as const } } : {};
  return { type: "message", role: "system", content: [{ type: "input_text", text, ...mark }] };
}

function toSampling(given: MessagesRequest, upstream: Upstream): CreateResponse {
  const { max_tokens, temperature, top_p, top_k, stop_sequences, stream } = given;
  const isNumber = (value: number | null | undefined): value is number => typeof value === "number";
  return {
    ...(isNumber(max_tokens) ? { max_output_tokens: clamp(max_tokens, upstream) } : {}),
    ...(isNumber(temperature) ? { temperature } : {}),
    ...(isNumber(top_p) ? { top_p } : {}),
    ...(isNumber(top_k) ? { top_k } : {}),
    ...(stop_sequences?.length ? { stop: stop_sequences } : {}),
    ...(stream ? { stream } : {}),
  };
}

/** Under which the session of a client stands in the metadata of its responses. */
const SESSION_KEY = "client_session";
const MAX_SESSION_CHARS = 128;

function toService(
  { metadata, service_tier, store }: MessagesRequest,
  { session }: Asking,
  { isVendor }: Upstream,
): CreateResponse {
  const user = metadata?.user_id;
  const kept = store ?? (session === undefined ? false : undefined);
  return {
    ...(kept === undefined ? {} : { store: kept }),
    // Who it is stays with the vendor that the client means to tell.
    ...(isVendor && user ? { user } : {}),
    ...(isVendor && service_tier ? { service_tier: service_tier as ServiceTier } : {}),
    ...(session === undefined
      ? {}
      : { metadata: { [SESSION_KEY]: session.slice(0, MAX_SESSION_CHARS) } }),
  };
}

/** `output_format` is the older name. */
function toFormat({ output_config, output_format }: MessagesRequest): CreateResponse {
  const format = output_config?.format ?? output_format;
  if (format?.type !== "json_schema" || !format.schema) return {};
  return {
    text: { format: { type: "json_schema", name: "answer", schema: format.schema, strict: true } },
  };
}

interface AskedThinking {
  readonly fields: Pick<CreateResponse, "reasoning">;
  readonly shows: MessagesAnswer["thinking"];
  readonly ignored: readonly string[];
}

/** What the published API takes where a request that thinks says no more. */
const USUAL_EFFORT = "high";

/** A request that says nothing of thinking asks for none. */
function toThinking(
  { thinking, output_config }: MessagesRequest,
  { canStopThinking }: Upstream,
): AskedThinking {
  const effort = output_config?.effort ?? undefined;
  const isOff = !thinking || thinking.type === "disabled";
  if (isOff) {
    const ignored = effort === undefined ? [] : ["output_config.effort"];
    const fields = canStopThinking ? { reasoning: { effort: "none" as const } } : {};
    return { fields, shows: "hidden", ignored };
  }
  const budget = thinking.budget_tokens ?? undefined;
  const wanted = effort ?? (budget === undefined ? USUAL_EFFORT : toEffort(budget));
  const shows = thinking.display === "omitted" ? "omitted" : "shown";
  const summary = shows === "shown" ? { summary: "auto" as const } : {};
  return { fields: { reasoning: { effort: wanted, ...summary } }, shows, ignored: [] };
}

/** The strongest effort whose budget fits. */
function toEffort(budget: number): Effort {
  const fitting = Object.entries(THINKING_BUDGETS).filter(([, tokens]) => tokens <= budget);
  return (fitting.at(-1)?.[0] ?? "minimal") as Effort;
}

const SEAL = "reasoning.encrypted_content";
const FOUND = ["web_search_call.results", "web_search_call.action.sources"];

/** What it thought comes back with the next request, of one with tools in any case: vendors want it with calls. */
function toInclude(
  { tools }: MessagesRequest,
  shows: MessagesAnswer["thinking"],
  hasTools: boolean,
): Pick<CreateResponse, "include"> {
  const seals = shows !== "hidden" || hasTools ? [SEAL] : [];
  const found = tools?.some(({ type }) => /^web_/.test(type ?? "")) ? FOUND : [];
  const include = [...seals, ...found];
  return include.length > 0 ? { include: include as CreateResponse["include"] } : {};
}

function toCallIds(items: readonly Item[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const item of items) if (item.type === "function_call") ids.add(item.call_id);
  return ids;
}

/** Parameters of the API, or of its clients, that ask for what nobody but the vendor has. */
const LEFT_OUT: readonly string[] = [
  ...["container", "inference_geo", "speed", "fallbacks", "compaction", "user_profile_id"],
];

function leftOut(given: MessagesRequest): string[] {
  const fields = given as unknown as JsonObject;
  const format = given.output_config?.format ?? given.output_format;
  const { task_budget } = (given.output_config ?? {}) as { task_budget?: unknown };
  return [
    ...LEFT_OUT.filter((name) => fields[name] !== undefined && fields[name] !== null),
    ...(format && format.type !== "json_schema" ? ["output_config.format"] : []),
    ...(task_budget ? ["output_config.task_budget"] : []),
  ];
}
