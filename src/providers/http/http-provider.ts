/**
 * A provider over HTTP: a wire, a vendor's row and a transport made into one.
 *
 * A call is retried as long as none of its output was given on; after the first event it fails.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { Redact } from "../../base/redact.ts";
import { MODEL_RETRY, type RetryPolicy, retry } from "../../base/retry.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { keepOptions } from "../known-options.ts";
import { pairResults } from "../pair-results.ts";
import { MODEL_OPTIONS, type ModelCall, type ModelRequest, type Provider } from "../provider.ts";
import { redactFailure, toHttpFailure } from "../provider-failure.ts";
import type { Decoder, Quirks, Wire } from "../wire.ts";
import { type HttpAnswer, MODEL_TIMEOUTS, type Timeouts, type Transport } from "./transport.ts";

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
  readonly timeouts?: Timeouts;
  readonly retry?: RetryPolicy;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly log?: Log;
  /** Cleans what failures and notices say: some servers answer with the key they were sent. */
  readonly redact?: Redact;
}

export type Sign = (unsigned: UnsignedRequest) => Promise<Readonly<Record<string, string>>>;

export interface UnsignedRequest {
  readonly method: "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

type Batch = readonly ModelEvent[];

export function createHttpProvider(options: HttpProviderOptions): Provider {
  const { wire, vendor, clock = systemClock, random = Math.random, log = silentLog } = options;

  async function* stream(asked: ModelRequest, call: ModelCall): AsyncGenerator<Batch, void> {
    const { request, drops } = fit(options, toPaired(asked));
    for (const { message, params } of drops) {
      log.debug(message, { vendor });
      call.notice?.({ code: "dropped", message, params });
    }
    const { first, rest } = await retry(() => beginOrRecover(options, request, call), {
      policy: options.retry ?? MODEL_RETRY,
      clock,
      random,
      signal: call.signal,
      onRetry: (failure, waitMs) => {
        const wait = `Trying ${vendor} again in ${(waitMs / 1000).toFixed(1)} s.`;
        log.info(failure.message, { vendor, wait_ms: Math.round(waitMs) });
        call.notice?.({ code: "retry", message: `${failure.message} ${wait}` });
      },
    });
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

  return { name: wire.name, stream };
}

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
    (name) => wire.options?.has(name) === true && !quirks.refuses?.includes(MODEL_OPTIONS[name]),
  );
  const unsaid = [...dropped, ...(wire.omits?.(request, quirks) ?? [])];
  const { model } = request;
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

interface Begun {
  readonly first: Batch;
  readonly rest: AsyncGenerator<Batch, void>;
}

/** A refusal that the wire knows how to mend is mended; a mended request is never as it was before. */
async function beginOrRecover(
  options: HttpProviderOptions,
  request: ModelRequest,
  call: ModelCall,
): Promise<Begun> {
  try {
    return await begin(options, request, call);
  } catch (thrown) {
    const failure = redactFailure(thrown, options.redact);
    const mended = options.wire.recover?.(request, failure);
    if (!mended) throw failure;
    call.notice?.({ code: "replay", message: `${failure.message} Sending it another way.` });
    return beginOrRecover(options, mended, call);
  }
}

/** Sends the request and waits for the first output: until then it may be sent again. */
async function begin(
  options: HttpProviderOptions,
  request: ModelRequest,
  call: ModelCall,
): Promise<Begun> {
  const answer = await send(options, request, call);
  const rest = readBatches(options, request, answer);
  const first: ModelEvent[] = [];
  while (!hasOutput(first)) {
    const next = await rest.next();
    if (next.done) throw new Failure("provider_broke_protocol", "The answer is empty.");
    first.push(...next.value);
  }
  return { first, rest };
}

function hasOutput(events: Batch): boolean {
  return events.some((event) => event.type !== "start");
}

async function send(
  options: HttpProviderOptions,
  request: ModelRequest,
  { signal }: ModelCall,
): Promise<HttpAnswer> {
  const { wire, vendor, baseUrl, headers, quirks, transport, log = silentLog } = options;
  const { timeouts = MODEL_TIMEOUTS } = options;
  const body = JSON.stringify(wire.encode(request, quirks));
  const url = joinUrl(baseUrl, wire.path(request));
  log.debug("request", { vendor, model: request.model, url, chars: body.length });
  const isWhole = request.whole === true && wire.canAnswerWhole === true;
  const unsigned = {
    method: "POST" as const,
    url,
    headers: {
      ...(isWhole ? WHOLE_HEADERS : STREAM_HEADERS),
      ...wire.headers?.(request, quirks),
      ...headers,
    },
    body,
    signal,
  };
  const answer = await transport.send({
    ...unsigned,
    headers: { ...unsigned.headers, ...(await options.sign?.(unsigned)) },
    timeouts: isWhole ? wholeTimeouts(timeouts) : timeouts,
  });
  log.debug("answer", { vendor, status: answer.status, id: answer.headers["x-request-id"] ?? "" });
  if (answer.status < 300) return answer;
  throw toHttpFailure(vendor, { ...answer, body: await readText(answer) });
}

const STREAM_HEADERS = { "content-type": "application/json", accept: "text/event-stream" };
const WHOLE_HEADERS = { "content-type": "application/json", accept: "application/json" };

/** Of an answer in one piece the first byte comes with the last: it has the time of both. */
function wholeTimeouts(timeouts: Timeouts): Timeouts {
  return { ...timeouts, firstByteMs: timeouts.firstByteMs + timeouts.idleMs };
}

/** Appends the path, unless the user gave the whole address. */
export function joinUrl(baseUrl: string, path: string): string {
  const base = baseUrl.replace(/\/+$/, "");
  return base.endsWith(path) ? base : base + path;
}

/** One batch a read of the network; ends with the decoder's word that the answer is whole. */
async function* readBatches(
  { vendor, wire, quirks }: HttpProviderOptions,
  request: ModelRequest,
  answer: HttpAnswer,
): AsyncGenerator<Batch, void> {
  const decoder = wire.decoder(request, quirks);
  const type = answer.headers["content-type"] ?? "";
  if (type.startsWith("application/json")) return yield readWhole(await readText(answer), decoder);
  if (type.startsWith("text/html")) throw await toPageFailure(vendor, answer);

  let batch: ModelEvent[] = [];
  const reader = wire.createReader((data) => decoder.read(data, batch));
  try {
    for await (const chunk of answer.chunks) {
      reader.push(chunk);
      if (batch.length === 0) continue;
      const full = batch;
      batch = [];
      yield full;
    }
    reader.end();
    decoder.end(batch);
  } catch (thrown) {
    // What it said before it broke counts, however it was cut into reads.
    if (batch.length > 0) yield batch;
    throw thrown;
  }
  if (batch.length > 0) yield batch;
}

/** A server that does not stream answers with one document. */
function readWhole(body: string, decoder: Decoder): Batch {
  const batch: ModelEvent[] = [];
  decoder.read(body, batch);
  decoder.end(batch);
  return batch;
}

async function toPageFailure(vendor: string, answer: HttpAnswer): Promise<Failure> {
  await answer.chunks.return();
  return new Failure(
    "provider_broke_protocol",
    `${vendor} answered with a web page instead of a stream. Check the URL: it must be an API's base.`,
  );
}

/** Enough of a body for a message or a document; a server that goes on for ever is left. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024;

async function readText({ chunks }: HttpAnswer): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}
