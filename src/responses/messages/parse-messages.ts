/**
 * A request of the Messages API as one of the Responses API. Clients bring the whole conversation each time, so
 * nothing is looked up for it; it is stored where the client names its session, or asks for it.
 */

import { estimateTokens } from "../../agent/context/token-estimate.ts";
import { Failure } from "../../base/failure.ts";
import { fromInput, type Item } from "../../protocol/items.ts";
import type { CreateResponse } from "../../protocol/request.ts";
import { type AppliedEdit, editContext } from "./context-edits.ts";
import { markLast, toMessagesItems } from "./messages-items.ts";
import { type MessagesRequest, parseMessagesRequest } from "./messages-request.ts";
import { toTools } from "./messages-tools.ts";
import {
  clamp,
  leftOut,
  pickFields,
  toFormat,
  toInclude,
  toSampling,
  toService,
  toSystem,
  toThinking,
  VENDOR_FIELDS,
} from "./messages-wishes.ts";
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

export interface Asking extends Pick<MessagesAnswer, "summaryOf"> {
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
  /** Whether the conversation in short is the whole answer. */
  readonly isCompaction?: boolean | undefined;
  /** The words of a conversation in short that this server has sealed; nobody reads them when left out. */
  readonly summaryOf?: ((sealed: string) => string | undefined) | undefined;
}

export interface ParsedMessages {
  readonly request: CreateResponse;
  readonly answer: MessagesAnswer;
  readonly upstream: Upstream;
  /** How many tokens the request has, as we estimate it; found out once. */
  readonly estimate: () => number;
}

/** Rejects with `Failure("invalid_request")` and the field at fault, as `parseCreateResponse` does. */
export function toCreateResponse(body: unknown, asking: Asking): ParsedMessages {
  const isPlain = isPlainMessages(body);
  const given = isPlain ? (body as MessagesRequest) : parseMessagesRequest(body);
  const upstream = asking.upstreamOf(given.model);
  if (isPlain && !hasPlaces(given, upstream)) return fitWindow(toPlain(given, asking, upstream));
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
  return fitWindow({
    request,
    upstream,
    answer: {
      ...{ model: given.model ?? undefined, thinking: thinking.shows, isCompaction },
      summaryOf: asking.summaryOf,
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
  });
}

/** Whether the vendor has to be told where a message stands: instructions in the middle, an answer that is begun. */
function hasPlaces({ messages }: MessagesRequest, { isVendor }: Upstream): boolean {
  if (!isVendor) return false;
  return messages.at(-1)?.role === "assistant" || messages.some(({ role }) => role === "system");
}

/** Has the conversation made short, in place of an answer. */
const COMPACT = { type: "compaction_trigger" } as unknown as Item;

function asksForCompaction(given: MessagesRequest): boolean {
  const { compaction } = given as { compaction?: unknown };
  if (compaction === undefined || compaction === null) return false;
  if (!given.context_management) return true;
  const message =
    "`compaction` cannot be combined with `context_management`. Leave one of them out.";
  throw new Failure("invalid_request", message, { param: "compaction" });
}

/** Up to this part of the window an answer is taken to fit beside the conversation. */
const SMALL_PART = 0.25;
/** An estimate may be too low. */
const ESTIMATE_FACTOR = 1.1;
/** With less room than this it is the conversation that is too long. */
const LEAST_ROOM = 1000;

/**
 * Servers refuse a conversation and an answer that do not fit into the window together, and clients ask for the
 * longest answer in every request. The vendor says so in words that its clients act on.
 */
function fitWindow(parsed: Omit<ParsedMessages, "estimate">): ParsedMessages {
  const { request, upstream, answer } = parsed;
  let known: number | undefined;
  const estimate = (): number => {
    const { input, instructions, tools } = request;
    const items = fromInput(input ?? []);
    known ??= estimateTokens({ items, instructions: instructions ?? "", tools: tools ?? [] });
    return known;
  };
  const { contextTokens = Number.POSITIVE_INFINITY, isVendor } = upstream;
  const { max_output_tokens: asked } = request;
  if (!isVendor && asked && asked > contextTokens * SMALL_PART) {
    const room = contextTokens - Math.ceil(estimate() * ESTIMATE_FACTOR);
    if (room >= LEAST_ROOM && room < asked) request.max_output_tokens = room;
  }
  return { request, upstream, answer, estimate };
}

const NO_IDS: ReadonlySet<string> = new Set();
const NOTHING: readonly never[] = [];

/** Words alone, with no blocks and no tools: most requests to a gateway, at a third of the cost. */
function toPlain(
  given: MessagesRequest,
  asking: Asking,
  upstream: Upstream,
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
  const answer: MessagesAnswer = {
    model: model ?? undefined,
    thinking: "hidden",
    applied: NOTHING,
    takenIds: NO_IDS,
    ignored: NOTHING,
    stops: NOTHING,
    contextTokens: upstream.contextTokens,
    summaryOf: asking.summaryOf,
  };
  return { request, upstream, answer };
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

function toCallIds(items: readonly Item[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const item of items) if (item.type === "function_call") ids.add(item.call_id);
  return ids;
}
