/**
 * Parses a request of the Messages API into one of the Responses API. Clients send the whole conversation each time,
 * so nothing is looked up; it is stored if the client names its session, or asks for it.
 */

import { estimateTokens } from "../../agent/context/token-estimate.ts";
import { Failure } from "../../base/failure.ts";
import { fromInput, type Item } from "../../protocol/items.ts";
import type { CreateResponse } from "../../protocol/request.ts";
import { editContext } from "./context-edits.ts";
import { markLast, toMessagesItems } from "./messages-items.ts";
import { type MessagesRequest, parseMessagesRequest } from "./messages-request.ts";
import { toTools } from "./messages-tools.ts";
import {
  clamp,
  leftOut,
  type MessagesAnswerOptions,
  type MessagesOrigin,
  pickFields,
  toFormat,
  toInclude,
  toSampling,
  toService,
  toSystem,
  toThinking,
  type UpstreamFacts,
  VENDOR_FIELDS,
} from "./messages-wishes.ts";
import { isPlainMessages } from "./plain-messages.ts";
import { toClientNames, toModelName } from "./tool-names.ts";

export interface ParsedMessages {
  readonly request: CreateResponse;
  readonly answer: MessagesAnswerOptions;
  readonly upstream: UpstreamFacts;
  /** Our estimate of the request's tokens; computed once. */
  readonly estimate: () => number;
}

/**
 * Rejects with `Failure("invalid_request")` and the field at fault, as `parseCreateResponse` does.
 */
export function toCreateResponse(body: unknown, asking: MessagesOrigin): ParsedMessages {
  const isPlain = isPlainMessages(body);
  const given = isPlain ? (body as MessagesRequest) : parseMessagesRequest(body);
  const upstream = asking.upstreamOf(given.model);
  if (isPlain && !hasPlaces(given, upstream))
    return fitWindow(toPlain(given, asking, upstream), { isPlain });
  refuseThread(given);
  const isCompaction = asksForCompaction(given);
  const { isVendor } = upstream;
  const { items, ignored, references } = toMessagesItems(given.messages, isVendor);
  const system = toSystem(given.system, isVendor);
  const tools = toTools(given, { isVendor, references });
  const instructions = system.instructions === "" ? {} : { instructions: system.instructions };
  const edits = given.context_management?.edits ?? [];
  const all = [...system.items, ...markLast(items, given.cache_control)];
  const context = editContext(all, edits, {
    ...instructions,
    ...tools.fields,
    nameOf: (name) => toModelName(name, isVendor),
  });
  const thinking = toThinking(given, upstream);
  const hasTools = tools.fields.tools !== undefined;
  const request: CreateResponse = {
    ...(given.model ? { model: given.model } : {}),
    input: [...context.items, ...(isCompaction ? [COMPACT] : [])],
    ...instructions,
    ...toSampling(given, upstream),
    ...toService(given, asking, upstream),
    ...tools.fields,
    ...context.fields,
    ...toFormat(given),
    ...thinking.fields,
    ...toInclude(given, thinking.shows, hasTools),
    ...pickFields(given, VENDOR_FIELDS),
  };
  const answer: MessagesAnswerOptions = {
    model: given.model ?? undefined,
    thinking: thinking.shows,
    isCompaction,
    summaryOf: asking.summaryOf,
    applied: context.applied,
    takenIds: toCallIds(items),
    clientNames: toClientNames(given.tools, isVendor),
    stops: given.stop_sequences ?? NOTHING,
    contextTokens: upstream.contextTokens,
    ignored: [
      ...system.ignored,
      ...ignored,
      ...tools.ignored,
      ...context.ignored,
      ...thinking.ignored,
      ...leftOut(given),
    ],
  };
  return fitWindow({ request, upstream, answer }, { isPlain: false });
}

/**
 * True if the vendor must know the place of a message: instructions in the middle, an answer that has begun.
 */
function hasPlaces({ messages }: MessagesRequest, { isVendor }: UpstreamFacts): boolean {
  if (!isVendor) return false;
  return messages.at(-1)?.role === "assistant" || messages.some(({ role }) => role === "system");
}

/** Asks for a summary of the conversation in place of an answer. */
const COMPACT = { type: "compaction_trigger" } as unknown as Item;

function asksForCompaction(given: MessagesRequest): boolean {
  const { compaction } = given as { compaction?: unknown };
  if (compaction === undefined || compaction === null) return false;
  if (!given.context_management) return true;
  const message =
    "`compaction` cannot be combined with `context_management`. Leave one of them out.";
  throw new Failure("invalid_request", message, { param: "compaction" });
}

/**
 * A whole answer of up to this part of the window is assumed to fit beside a conversation of words alone: an estimate
 * would be most of what such a request costs here. Other requests are estimated anyway, or cost much more.
 */
const SMALL_PART = 0.25;
/** An estimate may be too low. */
const ESTIMATE_FACTOR = 1.1;
/** With less room than this, the conversation is what is too long. */
const LEAST_ROOM = 1000;

/**
 * Servers refuse a conversation and an answer that together do not fit in the window, and clients ask for the longest
 * answer in every request. The vendor reports it in words that its clients react to.
 */
function fitWindow(
  parsed: Omit<ParsedMessages, "estimate">,
  { isPlain }: { readonly isPlain: boolean },
): ParsedMessages {
  const { request, upstream, answer } = parsed;
  let known: number | undefined;
  const estimate = (): number => {
    known ??= estimateRequest(request);
    return known;
  };
  const { contextTokens, isVendor } = upstream;
  const { max_output_tokens: asked, stream } = request;
  if (isVendor || !asked || contextTokens === undefined)
    return { request, upstream, answer, estimate };
  const isAssumed = isPlain && !stream && asked <= contextTokens * SMALL_PART;
  if (!isAssumed) {
    const room = contextTokens - Math.ceil(estimate() * ESTIMATE_FACTOR);
    if (room >= LEAST_ROOM && room < asked) request.max_output_tokens = room;
  }
  return { request, upstream, answer, estimate };
}

function estimateRequest({ input, instructions, tools }: CreateResponse): number {
  const items = fromInput(input ?? []);
  return estimateTokens({ items, instructions: instructions ?? "", tools: tools ?? [] });
}

const NO_IDS: ReadonlySet<string> = new Set();
const NO_NAMES: ReadonlyMap<string, string> = new Map();
const NOTHING: readonly never[] = [];

/** Only words, no blocks and no tools: most requests to a gateway, at a third of the cost. */
function toPlain(
  given: MessagesRequest,
  asking: MessagesOrigin,
  upstream: UpstreamFacts,
): Omit<ParsedMessages, "estimate"> {
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
  const answer: MessagesAnswerOptions = {
    model: model ?? undefined,
    thinking: "hidden",
    applied: NOTHING,
    takenIds: NO_IDS,
    clientNames: NO_NAMES,
    ignored: NOTHING,
    stops: NOTHING,
    contextTokens: upstream.contextTokens,
    summaryOf: asking.summaryOf,
  };
  return { request, upstream, answer };
}

/** Clients look for this in an error, and then continue without a thread by themselves. */
export const NO_THREADS = "thread_unsupported_request";

/**
 * A conversation that the server stores. If it were ignored, the client would send the next turn without the earlier
 * ones.
 */
function refuseThread(given: MessagesRequest): void {
  const { thread } = given as { thread?: unknown };
  if (thread === undefined || thread === null) return;
  const message = "This server keeps no message threads. Send all messages, without `thread`.";
  throw new Failure("invalid_request", message, { param: "thread", vendorCode: NO_THREADS });
}

function toCallIds(items: readonly Item[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const item of items) if (item.type === "function_call") ids.add(item.call_id);
  return ids;
}
