/**
 * Writes answers to clients. The frames of a stream are written once for each batch. A client that reads slowly
 * delays only itself, because the next batch is requested when the last one was sent. Long answers are written in
 * pieces, so that neither this process nor the socket holds the whole text.
 *
 * Nothing is sent before there is output: a response that fails at once is an HTTP error.
 */

import type { ServerResponse } from "node:http";
import { type Failure, type FailureCode, toFailure } from "../base/failure.ts";
import { makeId } from "../base/ids.ts";
import { isLarge, measureInSlices, writeInSlices } from "../base/json-pieces.ts";
import { createToldStream } from "./broken-stream.ts";
import { toFailureAnswer } from "./failure-answer.ts";
import { endLingering } from "./linger.ts";
import type {
  BytesAnswer,
  EventsAnswer,
  JsonAnswer,
  RouteAnswer,
  Speaks,
  StreamEvent,
  StreamManners,
} from "./route.ts";
import { toDeltaFrames, toFrames } from "./sse-frames.ts";

export interface SendSettings {
  /** How long a stream may be silent before a comment is sent to keep it open. */
  readonly keepAliveMs: number;
  /**
   * How long to wait for the first output before the answer begins. Until then it may become an error.
   */
  readonly commitMs: number;
  /** The system's when left out. */
  readonly timers?: SendTimers | undefined;
}

/** Timers of streams, so that tests need not wait. */
export interface SendTimers {
  once(run: () => void, ms: number): SendTimer;
  every(run: () => void, ms: number): SendTimer;
  stop(timer: SendTimer | undefined): void;
}

export interface SendTimer {
  /** Starts it again from now. */
  refresh(): unknown;
}

const SYSTEM_TIMERS: SendTimers = {
  once: setTimeout,
  every: setInterval,
  stop: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

export interface Sending {
  readonly settings: SendSettings;
  /** The API of the requested address. */
  readonly speaks?: Speaks | undefined;
  /** The tenant of the answer: tenants take turns with large ones. */
  readonly owner: string;
}

const REQUEST_ID = "x-request-id";

export function sendAnswer(
  response: ServerResponse,
  answer: RouteAnswer,
  sending: Sending,
): Promise<void> {
  switch (answer.kind) {
    case "json":
      return sendJson(response, answer, sending.owner);
    case "events":
      return sendEvents(response, answer, sending);
    case "bytes":
      return sendBytes(response, answer);
  }
}

export function sendFailure(
  response: ServerResponse,
  failure: Failure,
  speaks?: Speaks | undefined,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  refusals.set(response, failure.code);
  // A client that reports a failure needs an id to report.
  if (!response.hasHeader(REQUEST_ID)) response.setHeader(REQUEST_ID, makeId("req"));
  const answer = toFailureAnswer(failure, speaks, String(response.getHeader(REQUEST_ID)));
  // What is left of a body that was refused is not read as a request: the connection ends with the answer.
  const isUnread = !response.req.complete;
  if (isUnread) response.setHeader("connection", "close");
  const text = JSON.stringify(answer.body);
  writeHead(response, answer, Buffer.byteLength(text));
  if (isUnread) endLingering(response, text);
  else response.end(text);
}

const refusals = new WeakMap<ServerResponse, FailureCode>();

/** Why the request was refused, for its log line; undefined if it was not, or its answer had begun. */
export function refusalOf(response: ServerResponse): FailureCode | undefined {
  return refusals.get(response);
}

async function sendJson(
  response: ServerResponse,
  answer: JsonAnswer,
  owner: string,
): Promise<void> {
  if (!isLarge(answer.body)) return endJson(response, answer);
  // Serialised twice: first for the length in the head, then to send it. The whole text is never in memory.
  writeHead(response, answer, await measureInSlices(answer.body, owner));
  await writeAll({ response, owner }, [answer.body]);
  response.end();
}

function endJson(response: ServerResponse, answer: JsonAnswer): void {
  // As bytes: Node would count those of a text first, and then join it to the head in a copy (bench/gateway.ts).
  const bytes = Buffer.from(JSON.stringify(answer.body));
  writeHead(response, answer, bytes.length);
  response.end(bytes);
}

function writeHead(
  response: ServerResponse,
  { status = 200, headers }: JsonAnswer,
  bytes: number,
): void {
  const head = ["content-type", "application/json", "content-length", String(bytes)];
  for (const name in headers) head.push(name, headers[name] ?? "");
  response.writeHead(status, head);
}

interface Output {
  readonly response: ServerResponse;
  readonly owner: string;
}

/**
 * Writes only as much as the client takes. A large value is passed as an object and written as JSON here.
 */
async function writeAll(out: Output, texts: Iterable<string | object>): Promise<void> {
  const { response } = out;
  for (const text of texts) {
    const full = typeof text === "string" ? write(response, text) : writeLarge(out, text);
    if (full !== undefined) await full;
    if (response.destroyed) return;
  }
}

/** Undefined if there is nothing to wait for, as with nearly all batches. */
function writeBatch(out: Output, batch: readonly StreamEvent[]): Promise<void> | undefined {
  const text = toDeltaFrames(batch);
  if (text === undefined) return writeAll(out, toFrames(batch));
  return text === "" ? undefined : write(out.response, text);
}

/**
 * In characters. Converting a shorter text to bytes first costs more than it saves (bench/gateway.ts).
 */
const LONG_TEXT = 4096;

/** The most unread bytes of a client before its stream waits for it. */
const MAX_UNREAD = 128 * 1024;

/**
 * Writes to a stream. All that is written in one turn of the event loop is sent by one system call, which saves a
 * third of the time of a short stream (bench/gateway.ts). Undefined if there is nothing to wait for.
 */
function write(response: ServerResponse, text: string): Promise<void> | undefined {
  if (response.writableCorked === 0) {
    response.cork();
    setImmediate(send, response);
  }
  // A long text is converted to bytes once. Node would count its bytes first, and then convert it.
  const piece = text.length < LONG_TEXT ? text : Buffer.from(text);
  if (response.write(piece) || response.writableLength < MAX_UNREAD) return undefined;
  return drained(response);
}

function send(response: ServerResponse): void {
  // After that, the connection belongs to the next request.
  if (!response.writableEnded) response.uncork();
}

async function writeLarge({ response, owner }: Output, value: object): Promise<void> {
  for await (const piece of writeInSlices(value, owner)) {
    const full = write(response, piece);
    if (full !== undefined) await full;
    if (response.destroyed) return;
  }
}

async function sendBytes(
  response: ServerResponse,
  { status = 200, type, chunks, headers }: BytesAnswer,
): Promise<void> {
  const named = type === undefined ? { "content-length": "0" } : { "content-type": type };
  response.writeHead(status, { ...headers, ...named });
  // The first piece of a stream may be late, and clients give up on an answer without a head.
  if (headers?.["content-length"] === undefined) response.flushHeaders();
  for await (const chunk of chunks) {
    if (!response.write(chunk)) await drained(response);
    if (response.destroyed) return;
  }
  response.end();
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  // Without it, proxies such as nginx buffer a stream.
  "x-accel-buffering": "no",
};

/** Owns the events: however it ends, it ends them too. */
async function sendEvents(
  response: ServerResponse,
  answer: EventsAnswer,
  { settings, speaks, owner }: Sending,
): Promise<void> {
  const { events, headers } = answer;
  try {
    if (response.req.method === "HEAD") {
      response.writeHead(200, { ...headers, ...STREAM_HEADERS }).end();
      return;
    }
    const { manners } = answer;
    const held = await holdBack(answer, toHoldMs(settings, manners), settings.timers);
    if (held.failure) return sendFailure(response, held.failure, speaks);
    response.writeHead(200, { ...headers, ...STREAM_HEADERS });
    // The client has heard nothing for as long as it was held.
    if (manners && held.next) response.write(manners.alive);
    await streamEvents({ response, owner }, { events, held, manners }, settings);
  } finally {
    await events.return(undefined);
  }
}

function toHoldMs({ commitMs, keepAliveMs }: SendSettings, manners?: StreamManners): number {
  return manners ? Math.max(commitMs, Math.min(keepAliveMs, manners.holdMs)) : commitMs;
}

interface Streaming {
  readonly events: EventsAnswer["events"];
  readonly held: Held;
  readonly manners: StreamManners | undefined;
}

async function streamEvents(
  out: Output,
  { events, held, manners }: Streaming,
  { keepAliveMs, timers = SYSTEM_TIMERS }: SendSettings,
): Promise<void> {
  const { response } = out;
  const { alive: sign = ": keep-alive\n\n", done = DONE } = manners ?? {};
  // A client that does not read what it has needs no keep-alive: comments would only pile up.
  const keepAlive = (): void => {
    if (!response.writableNeedDrain) response.write(sign);
  };
  const alive = timers.every(keepAlive, keepAliveMs);
  const told = createToldStream();
  try {
    for (const batch of held.batches) told.read(batch);
    await writeAll(out, toFrames(held.batches.flat()));
    for (let next = held.next; ; next = undefined) {
      const step = await (next ?? events.next());
      if (step.done) break;
      alive.refresh();
      told.read(step.value);
      const full = writeBatch(out, step.value);
      if (full !== undefined) await full;
      // Ending the events decides what happens to their run.
      if (response.destroyed) return;
    }
    response.end(done);
  } catch (thrown) {
    // A stream that just stops would look complete to some clients.
    const failure = toFailure(thrown);
    const broken = manners ? [{ sse: manners.toBroken(failure) }] : told.toBroken(failure);
    await writeAll(out, toFrames(broken));
    response.end(done);
  } finally {
    timers.stop(alive);
  }
}

const DONE = "data: [DONE]\n\n";

type Step = Promise<IteratorResult<readonly StreamEvent[]>>;

interface Held {
  /** Batches that came while it waited. */
  readonly batches: readonly (readonly StreamEvent[])[];
  /** The batch that was requested and has not come. */
  readonly next?: Step | undefined;
  /** Set if it failed before it had any output. */
  readonly failure?: Failure | undefined;
}

/** Waits a limited time for the first output. The first events of a stream are not output. */
async function holdBack(
  { events, failure: findFailure }: EventsAnswer,
  holdMs: number,
  timers = SYSTEM_TIMERS,
): Promise<Held> {
  const batches: (readonly StreamEvent[])[] = [];
  let timer: SendTimer | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = timers.once(() => resolve("late"), holdMs);
  });
  try {
    for (;;) {
      const next = events.next();
      const first = await Promise.race([next, late]);
      if (first === "late") return { batches, next };
      if (first.done) return { batches };
      batches.push(first.value);
      const failure = findFailure?.();
      if (failure || first.value.some(isOutput)) return { batches, failure };
    }
  } catch (thrown) {
    return { batches: [], failure: toFailure(thrown) };
  } finally {
    timers.stop(timer);
  }
}

const BEGINNINGS: ReadonlySet<string> = new Set([
  "response.created",
  "response.queued",
  "response.in_progress",
]);

function isOutput(event: StreamEvent): boolean {
  return "frame" in event || "sse" in event || !BEGINNINGS.has(event.type);
}

function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
