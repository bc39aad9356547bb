/**
 * A provider over HTTP, made of a wire, a vendor's row and a transport.
 *
 * A call is retried until its first event has been emitted; after that it fails.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { Redact } from "../../base/redact.ts";
import { MODEL_RETRY, type Retrying, type RetryPolicy, retry } from "../../base/retry.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { joinOptions, layOver } from "../../protocol/own-options.ts";
import { keepOptions, omittedOfFormat } from "../known-options.ts";
import { pairResults } from "../pair-results.ts";
import {
  type ModelCall,
  type ModelOptions,
  type ModelRequest,
  type Provider,
  TEXT_FORMAT,
  toParameter,
  type WholeAnswer,
} from "../provider.ts";
import { redactFailure, toModelFailure } from "../provider-failure.ts";
import { checkSaid, collectAnswer, hasOutput } from "../whole-answer.ts";
import type { Quirks, Wire } from "../wire.ts";
import { carryFields } from "./carried-fields.ts";
import { isDocument, readDocument } from "./document.ts";
import type { HttpAnswer, Timeouts } from "./http-answer.ts";
import { addHeaders } from "./own-fields.ts";
import { type EventBatch, readBatches } from "./read-answer.ts";
import { refuseExcess } from "./refuse-excess.ts";
import { type RequestBody, sizeOfPieces, writeBody } from "./request-body.ts";
import { continueAfterSlips } from "./slips.ts";
import { MODEL_TIMEOUTS } from "./timeouts.ts";
import type { Transport } from "./transport.ts";
import { withoutRefused } from "./without-refused.ts";

export interface HttpProviderOptions {
  /** The vendor's name, for messages. */
  readonly vendor: string;
  readonly wire: Wire;
  /** With or without the wire's path at its end. */
  readonly baseUrl: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Creates the headers that authorize a request, for each request again. They are the only place with
   * keys.
   */
  readonly sign?: Sign;
  readonly quirks: Quirks;
  readonly transport: Transport;
  /** Removes parameters that the model is known to refuse, and names them. */
  readonly prepare?: (request: ModelRequest) => {
    request: ModelRequest;
    dropped: readonly string[];
  };
  /** Fields of the vendor's own, merged into each body. */
  readonly own?: JsonObject | undefined;
  readonly timeouts?: Timeouts;
  readonly retry?: RetryPolicy;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly log?: Log;
  /** Removes secrets from failures and notices: some servers answer with the key that they got. */
  readonly redact?: Redact;
}

export type Sign = KeySign | CloudSign;
/** A key that is known. */
type KeySign = () => Readonly<Record<string, string>>;
/** Credentials of a cloud, which may have to be fetched. */
export type CloudSign = (unsigned: UnsignedRequest) => Promise<ReturnType<KeySign>>;

export interface UnsignedRequest {
  readonly method: "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestBody;
  /** The owner, as for a model call; missing if no body is large. */
  readonly owner?: string | undefined;
  readonly signal: AbortSignal;
}

export function createHttpProvider(options: HttpProviderOptions): Provider {
  const { wire, vendor, clock = systemClock, random = Math.random, log = silentLog } = options;
  const policy = options.retry ?? MODEL_RETRY;

  function prepare(asked: ModelRequest, call: ModelCall): ModelRequest {
    const { request, drops } = fit(options, toPaired(asked));
    refuseExcess(request, options);
    for (const { message, params } of drops) {
      log.debug(message, { vendor });
      call.notice?.({ code: "dropped", message, params });
    }
    return request;
  }

  function toRetrying({ signal, notice }: ModelCall): Retrying {
    const onRetry = (failure: Failure, waitMs: number): void => {
      const wait = `Trying ${vendor} again in ${(waitMs / 1000).toFixed(1)} s.`;
      log.info(failure.message, { vendor, wait_ms: Math.round(waitMs) });
      notice?.({ code: "retry", message: `${failure.message} ${wait}` });
    };
    return { policy, clock, random, signal, onRetry };
  }

  async function* stream(asked: ModelRequest, call: ModelCall): AsyncGenerator<EventBatch, void> {
    const request = prepare(asked, call);
    const { first, rest } = await retry(
      () => recovering(begin, { options, request, call }),
      () => toRetrying(call),
    );
    try {
      yield first;
      yield* rest;
    } catch (thrown) {
      throw redactFailure(thrown, options.redact);
    } finally {
      // A consumer that stops at the first batch never entered `rest`, so its connection is released here.
      await rest.return();
    }
  }

  function answer(asked: ModelRequest, call: ModelCall): Promise<WholeAnswer> {
    const request = prepare(asked, call);
    const ask = (): Promise<WholeAnswer> => recovering(askWhole, { options, request, call });
    return policy.attempts > 1 ? retry(ask, () => toRetrying(call)) : ask();
  }

  const omits = (asked: ModelOptions): readonly string[] =>
    fit(options, { ...NOTHING_ASKED, options: asked }).drops.flatMap(({ params }) => params);

  const { slips } = options.quirks;
  return {
    name: wire.name,
    stream: slips ? (asked, call) => continueAfterSlips(stream, asked, call) : stream,
    answer,
    omits,
  };
}

/** An empty request, to ask about options alone. */
const NOTHING_ASKED: ModelRequest = {
  model: "",
  instructions: undefined,
  items: [],
  tools: [],
  tool_choice: "auto",
  parallel_tool_calls: undefined,
  temperature: undefined,
  top_p: undefined,
  max_output_tokens: undefined,
  previous: undefined,
  reasoning: { effort: undefined, summary: undefined },
  format: TEXT_FORMAT,
};

interface Drop {
  readonly message: string;
  readonly params: readonly string[];
}

/** The request in a form that this model and this API accept, and what that leaves out. */
function fit(
  { prepare, wire, vendor, quirks }: HttpProviderOptions,
  asked: ModelRequest,
): { readonly request: ModelRequest; readonly drops: readonly Drop[] } {
  const prepared = prepare?.(asked) ?? { request: asked, dropped: [] };
  const { request, dropped } = keepOptions(
    prepared.request,
    (name) => wire.options?.has(name) === true && !quirks.refuses?.includes(toParameter(name)),
  );
  const unheard = wire.describesFormat ? [] : omittedOfFormat(request);
  const { model } = request;
  const { left } = carryFields(request.extras, { vendor, wire: wire.name, model });
  const omitted = [...unheard, ...(wire.omits?.(request, quirks) ?? []), ...left];
  if (prepared.dropped.length + dropped.length + omitted.length === 0)
    return { request, drops: [] };
  const unsaid = [...dropped, ...omitted];
  return {
    request,
    drops: [
      ...prepared.dropped.map((name) => ({
        message: `\`${name}\` left out: ${model} refuses it.`,
        params: [toParam(name)],
      })),
      ...unsaid.map((name) => ({
        message: `\`${name}\` left out: ${model} over ${vendor} does not support it.`,
        params: [name],
      })),
    ],
  };
}

/** The parameter of an option: `effort:none` names one value of it. */
function toParam(name: string): string {
  if (name.startsWith("effort:")) return "reasoning.effort";
  return name === "summary" ? "reasoning.summary" : name;
}

/** Leaves out the items that a server remembers, if it remembers the beginning. */
function toPaired(request: ModelRequest): ModelRequest {
  if (request.previous) return request;
  const items = pairResults(request.items);
  return items === request.items ? request : { ...request, items };
}

interface Sending {
  readonly options: HttpProviderOptions;
  readonly request: ModelRequest;
  readonly call: ModelCall;
}

/**
 * Sends a refused request in another form if the wire knows one. Each form differs from those before it, so
 * this ends.
 */
function recovering<Out>(ask: (sending: Sending) => Promise<Out>, sending: Sending): Promise<Out> {
  return ask(sending).catch((thrown: unknown) => {
    const { options, request, call } = sending;
    const failure = redactFailure(thrown, options.redact);
    const changed = options.wire.recover?.(request, failure) ?? withoutRefused(sending, failure);
    if (!changed) throw failure;
    call.notice?.({ code: "replay", message: `${failure.message} Sending it in another form.` });
    return recovering(ask, { options, request: changed, call });
  });
}

async function askWhole(sending: Sending): Promise<WholeAnswer> {
  const answer = await send(sending);
  const { options, request, call } = sending;
  const read = isDocument(answer)
    ? await readDocument(answer, options.wire.decoder(request, options.quirks), call)
    : await collectAnswer(readRedacted(sending, answer));
  if (!read.failure) checkSaid(read.events);
  return read;
}

async function* readRedacted(
  { options, request, call }: Sending,
  answer: HttpAnswer,
): AsyncGenerator<EventBatch, void> {
  try {
    yield* readBatches(options, { request, call }, answer);
  } catch (thrown) {
    throw redactFailure(thrown, options.redact);
  }
}

interface Begun {
  readonly first: EventBatch;
  readonly rest: AsyncGenerator<EventBatch, void>;
}

/** Sends the request and waits for the first output. Until then it may be sent again. */
async function begin(sending: Sending): Promise<Begun> {
  const { options } = sending;
  const answer = await send(sending);
  const rest = readBatches(options, sending, answer);
  const first: ModelEvent[] = [];
  while (!hasOutput(first)) {
    const next = await rest.next();
    if (next.done) throw new Failure("provider_broke_protocol", "The answer is empty.");
    first.push(...next.value);
  }
  checkSaid(first);
  return { first, rest };
}

async function send({ options, request, call }: Sending): Promise<HttpAnswer> {
  const { wire, vendor, baseUrl, headers, quirks, transport, log = silentLog } = options;
  const { timeouts = MODEL_TIMEOUTS } = options;
  const encoded = layOver(wire.encode(request, quirks), toOwn(options, request));
  const owner = call.owner ?? call.run ?? "model";
  const written = writeBody(encoded, owner);
  const body = typeof written === "string" ? written : await written;
  const url = joinUrl(baseUrl, wire.path(request));
  log.debug("request", { vendor, model: request.model, url, chars: lengthOf(body) });
  const isWhole = request.whole === true && wire.canAnswerWhole === true;
  const { signal } = call;
  const head: Record<string, string> = { ...(isWhole ? WHOLE_HEADERS : STREAM_HEADERS) };
  if (wire.headers) Object.assign(head, wire.headers(request, quirks));
  addHeaders(head, headers);
  const signed = options.sign?.({ method: "POST", url, headers: head, body, owner, signal });
  // Most signatures are a known key; awaiting one takes longer than writing it.
  Object.assign(head, signed instanceof Promise ? await signed : signed);
  if (call.beforeSend) await call.beforeSend();
  call.onSend?.();
  const answer = await transport.send({
    method: "POST",
    url,
    headers: head,
    body,
    signal,
    timeouts: isWhole ? wholeTimeouts(timeouts) : timeouts,
  });
  const { status } = answer;
  log.debug("answer", { vendor, status, id: answer.headers["x-request-id"] ?? "" });
  if (status < 300) return answer;
  const text = await answer.text(MAX_ERROR_BYTES);
  throw toModelFailure(vendor, { status, headers: answer.headers, body: text });
}

function lengthOf(body: RequestBody): number {
  return typeof body === "string" ? body.length : sizeOfPieces(body);
}

/**
 * The vendor's own fields: first those of the settings, then those of compatible servers' clients, then
 * those that the request names.
 */
function toOwn(
  { own, vendor, wire }: HttpProviderOptions,
  { own: asked, extras, model }: ModelRequest,
): JsonObject | undefined {
  if (!asked && !extras) return own;
  const { body } = carryFields(extras, { vendor, wire: wire.name, model });
  return joinOptions(joinOptions(own, body), asked);
}

const STREAM_HEADERS = { "content-type": "application/json", accept: "text/event-stream" };
const WHOLE_HEADERS = { "content-type": "application/json", accept: "application/json" };

/** The timeouts of a whole answer, whose first byte comes with the last: it has the time of both. */
function wholeTimeouts({ connectMs, firstByteMs, idleMs }: Timeouts): Timeouts {
  const wholeMs = firstByteMs + idleMs;
  // Both the same: a connection whose next limit differs would create a new timer.
  return { connectMs, firstByteMs: wholeMs, idleMs: wholeMs };
}

/** Appends the path, unless the user gave the whole address. A query of the base stays at the end. */
export function joinUrl(baseUrl: string, path: string): string {
  const at = baseUrl.indexOf("?");
  const base = (at < 0 ? baseUrl : baseUrl.slice(0, at)).replace(/\/+$/, "");
  const whole = base.endsWith(path) ? base : base + path;
  if (at < 0) return whole;
  return `${whole}${whole.includes("?") ? "&" : "?"}${baseUrl.slice(at + 1)}`;
}

/** Enough of a body for a message. The rest is not read, because a server may never stop. */
const MAX_ERROR_BYTES = 1024 * 1024;
