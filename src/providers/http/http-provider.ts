/**
 * A provider over HTTP: a wire, a vendor's row and a transport made into one.
 *
 * A call is retried as long as none of its output was given on; after the first event it fails.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { Redact } from "../../base/redact.ts";
import { MODEL_RETRY, type Retrying, type RetryPolicy, retry } from "../../base/retry.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { joinOptions, layOver } from "../../protocol/own-options.ts";
import { carryFields } from "../carried-fields.ts";
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
import { dropAbsurdCost } from "../told-cost.ts";
import { checkSaid, collectAnswer, hasOutput } from "../whole-answer.ts";
import type { Quirks, Wire } from "../wire.ts";
import { isDocument, readDocument } from "./document.ts";
import { joinBetas } from "./own-fields.ts";
import { type RequestBody, sizeOfPieces, writeBody } from "./request-body.ts";
import { goOnAfterSlips } from "./slips.ts";
import { MODEL_TIMEOUTS } from "./timeouts.ts";
import type { HttpAnswer, Timeouts, Transport } from "./transport.ts";
import { withoutRefused } from "./without-refused.ts";

export interface HttpProviderOptions {
  /** The vendor's name, for messages. */
  readonly vendor: string;
  readonly wire: Wire;
  /** With or without the wire's path at its end. */
  readonly baseUrl: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers that prove who asks, made for each request anew; keys are in there and nowhere else. */
  readonly sign?: Sign;
  readonly quirks: Quirks;
  readonly transport: Transport;
  /** Leaves out what the model is known to refuse, and names it. */
  readonly prepare?: (request: ModelRequest) => {
    request: ModelRequest;
    dropped: readonly string[];
  };
  /** Fields of the vendor's own, laid over each body. */
  readonly own?: JsonObject | undefined;
  readonly timeouts?: Timeouts;
  readonly retry?: RetryPolicy;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly log?: Log;
  /** Cleans what failures and notices say: some servers answer with the key they were sent. */
  readonly redact?: Redact;
}

export type Sign = KeySign | CloudSign;
/** A key that is there. */
type KeySign = () => Readonly<Record<string, string>>;
/** What a cloud gives, which may have to be fetched. */
export type CloudSign = (unsigned: UnsignedRequest) => Promise<ReturnType<KeySign>>;

export interface UnsignedRequest {
  readonly method: "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestBody;
  /** As of a model call; left out where no body is large. */
  readonly owner?: string | undefined;
  readonly signal: AbortSignal;
}

type Batch = readonly ModelEvent[];

export function createHttpProvider(options: HttpProviderOptions): Provider {
  const { wire, vendor, clock = systemClock, random = Math.random, log = silentLog } = options;
  const policy = options.retry ?? MODEL_RETRY;

  function prepare(asked: ModelRequest, call: ModelCall): ModelRequest {
    const { request, drops } = fit(options, toPaired(asked));
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

  async function* stream(asked: ModelRequest, call: ModelCall): AsyncGenerator<Batch, void> {
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
      // A consumer that stops at the first batch never entered `rest`; its connection is given back here.
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
    stream: slips ? (asked, call) => goOnAfterSlips(stream, asked, call) : stream,
    answer,
    omits,
  };
}

/** A request that says nothing, for questions about options alone. */
const NOTHING_ASKED: ModelRequest = {
  ...{ model: "", instructions: undefined, items: [], tools: [], tool_choice: "auto" },
  ...{ parallel_tool_calls: undefined, temperature: undefined, top_p: undefined },
  ...{ max_output_tokens: undefined, previous: undefined },
  reasoning: { effort: undefined, summary: undefined },
  format: TEXT_FORMAT,
};

interface Drop {
  readonly message: string;
  readonly params: readonly string[];
}

/** The request as this model and this API can be asked it, and what that leaves out. */
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
        message: `\`${name}\` left out: ${model} over ${vendor} has no word for it.`,
        params: [name],
      })),
    ],
  };
}

/** `effort:none` names a value of the parameter. */
function toParam(name: string): string {
  if (name.startsWith("effort:")) return "reasoning.effort";
  return name === "summary" ? "reasoning.summary" : name;
}

/** A server that knows the beginning by itself is told the rest as it comes. */
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

/** Sends a refused request another way where the wire knows one. Each way differs from those before it, so this ends. */
function recovering<Out>(ask: (sending: Sending) => Promise<Out>, sending: Sending): Promise<Out> {
  return ask(sending).catch((thrown: unknown) => {
    const { options, request, call } = sending;
    const failure = redactFailure(thrown, options.redact);
    const changed = options.wire.recover?.(request, failure) ?? withoutRefused(sending, failure);
    if (!changed) throw failure;
    call.notice?.({ code: "replay", message: `${failure.message} Sending it another way.` });
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
): AsyncGenerator<Batch, void> {
  try {
    yield* readBatches(options, { request, call }, answer);
  } catch (thrown) {
    throw redactFailure(thrown, options.redact);
  }
}

interface Begun {
  readonly first: Batch;
  readonly rest: AsyncGenerator<Batch, void>;
}

/** Sends the request and waits for the first output: until then it may be sent again. */
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
  const said = {
    ...(isWhole ? WHOLE_HEADERS : STREAM_HEADERS),
    ...wire.headers?.(request, quirks),
  };
  const head: Record<string, string> = Object.assign(said, headers, joinBetas(said, headers));
  const signed = options.sign?.({ method: "POST", url, headers: head, body, owner, signal });
  // Most signatures are a key that is there; waiting for one costs more than writing it.
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

/** What the settings say, then what clients of other servers would say, then what was asked for by name. */
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

/** Of an answer in one piece the first byte comes with the last: it has the time of both. */
function wholeTimeouts({ connectMs, firstByteMs, idleMs }: Timeouts): Timeouts {
  const wholeMs = firstByteMs + idleMs;
  // Both the same: a connection whose next limit is another one sets up a timer anew.
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

/** One batch a read of the network; ends with the decoder's word that the answer is whole. */
async function* readBatches(
  { vendor, wire, quirks }: HttpProviderOptions,
  { request, call }: Pick<Sending, "request" | "call">,
  answer: HttpAnswer,
): AsyncGenerator<Batch, void> {
  const decoder = wire.decoder(request, quirks);
  if (isDocument(answer)) return yield* tellWhole(await readDocument(answer, decoder, call));
  if (isPage(answer)) throw await toPageFailure(vendor, answer);

  let batch: ModelEvent[] = [];
  let isWhole = false;
  const reader = wire.createReader((data) => decoder.read(data, batch));
  try {
    for await (const chunk of answer.chunks) {
      reader.push(chunk);
      if (batch.length === 0) continue;
      const full = batch;
      batch = [];
      yield dropAbsurdCost(full, call);
    }
    reader.end();
    decoder.end(batch);
    isWhole = true;
  } catch (thrown) {
    // What it said before it broke counts, however it was cut into reads.
    if (batch.length > 0) yield batch;
    throw thrown;
  } finally {
    // Reached as well when whoever reads leaves.
    if (!isWhole && decoder.usage) call.onUsage?.(decoder.usage);
  }
  if (batch.length > 0) yield dropAbsurdCost(batch, call);
}

async function* tellWhole({ events, failure }: WholeAnswer): AsyncGenerator<Batch, void> {
  if (events.length > 0) yield events;
  if (failure) throw failure;
}

function isPage({ headers }: HttpAnswer): boolean {
  return headers["content-type"]?.startsWith("text/html") === true;
}

async function toPageFailure(vendor: string, answer: HttpAnswer): Promise<Failure> {
  await answer.chunks.return();
  return new Failure(
    "provider_broke_protocol",
    `${vendor} answered with a web page instead of a stream. Check the URL: it must be an API's base.`,
  );
}

/** Enough of a body for a message; a server that goes on for ever is left. */
const MAX_ERROR_BYTES = 1024 * 1024;
