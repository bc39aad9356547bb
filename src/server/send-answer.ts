/**
 * Answers on the wire. A stream's frames are written once a batch; a client that reads slowly slows
 * itself alone, because the next batch is asked for when the last one is on its way. Long answers are
 * written in pieces, so that neither this process nor the socket holds their text as a whole.
 *
 * Nothing is sent before there is something to say: a response that fails at once is an HTTP error.
 */

import type { ServerResponse } from "node:http";
import { type Failure, toFailure } from "../base/failure.ts";
import { makeId } from "../base/ids.ts";
import { isLarge, measureInSlices, writeInSlices } from "../base/json-pieces.ts";
import { createToldStream } from "./broken-stream.ts";
import { toFailureAnswer } from "./failure-answer.ts";
import type {
  Answer,
  BytesAnswer,
  EventsAnswer,
  JsonAnswer,
  Speaks,
  StreamEvent,
  StreamManners,
} from "./route.ts";
import { toDeltaFrames, toFrames } from "./sse-frames.ts";

export interface SendSettings {
  /** How long a stream may be silent before a comment keeps it alive. */
  readonly keepAliveMs: number;
  /** How long the first output is waited for before the answer begins; until then it may be an error. */
  readonly commitMs: number;
}

export interface Sending {
  readonly settings: SendSettings;
  /** The API of the address that was asked. */
  readonly speaks?: Speaks | undefined;
  /** Whose answer it is: tenants take turns with what is large. */
  readonly owner: string;
}

const REQUEST_ID = "x-request-id";

export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  sending: Sending,
): Promise<void> {
  switch (answer.kind) {
    case "json":
      return await sendJson(response, answer, sending.owner);
    case "events":
      return await sendEvents(response, answer, sending);
    case "bytes":
      return await sendBytes(response, answer);
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
  // Whoever reports a failure needs something to report it by.
  if (!response.hasHeader(REQUEST_ID)) response.setHeader(REQUEST_ID, makeId("req"));
  endJson(response, toFailureAnswer(failure, speaks, String(response.getHeader(REQUEST_ID))));
}

async function sendJson(
  response: ServerResponse,
  answer: JsonAnswer,
  owner: string,
): Promise<void> {
  if (!isLarge(answer.body)) return endJson(response, answer);
  // Written twice: the head says the length, and the text is never there as a whole.
  writeHead(response, answer, await measureInSlices(answer.body, owner));
  await writeAll({ response, owner }, [answer.body]);
  response.end();
}

function endJson(response: ServerResponse, answer: JsonAnswer): void {
  const text = JSON.stringify(answer.body);
  writeHead(response, answer, Buffer.byteLength(text));
  response.end(text);
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

/** Writes no more than the client takes. What is large is given as itself, and written as JSON here. */
async function writeAll(out: Output, texts: Iterable<string | object>): Promise<void> {
  const { response } = out;
  for (const text of texts) {
    const full = typeof text === "string" ? write(response, text) : writeLarge(out, text);
    if (full !== undefined) await full;
    if (response.destroyed) return;
  }
}

/** Undefined where there is nothing to wait for, as with nearly all batches. */
function writeBatch(out: Output, batch: readonly StreamEvent[]): Promise<void> | undefined {
  const text = toDeltaFrames(batch);
  if (text === undefined) return writeAll(out, toFrames(batch));
  return text === "" ? undefined : write(out.response, text);
}

/** In characters. What is shorter costs more as bytes of its own (bench/gateway.ts). */
const LONG_TEXT = 4096;

/** What a client may leave unread before its stream waits for it, in bytes. */
const MAX_UNREAD = 128 * 1024;

/**
 * Writes to a stream. All that is written in one turn of the event loop is sent by one call of the system, which costs
 * a third of a short stream (bench/gateway.ts). Undefined where there is nothing to wait for.
 */
function write(response: ServerResponse, text: string): Promise<void> | undefined {
  if (response.writableCorked === 0) {
    response.cork();
    setImmediate(send, response);
  }
  // A long text is made bytes once; Node would count its bytes first, and then write them.
  const piece = text.length < LONG_TEXT ? text : Buffer.from(text);
  if (response.write(piece) || response.writableLength < MAX_UNREAD) return undefined;
  return drained(response);
}

function send(response: ServerResponse): void {
  // The connection belongs to the next request then.
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
  // The first piece of a stream may be long in coming, and clients give up on an answer without a head.
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
  // Proxies of the nginx kind hold a stream back without it.
  "x-accel-buffering": "no",
};

/** Owns the events: whichever way it ends, they are ended too. */
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
    const held = await holdBack(answer, settings.commitMs);
    if (held.failure) return sendFailure(response, held.failure, speaks);
    response.writeHead(200, { ...headers, ...STREAM_HEADERS });
    const { manners } = answer;
    await streamEvents({ response, owner }, { events, held, manners }, settings.keepAliveMs);
  } finally {
    await events.return(undefined);
  }
}

interface Streaming {
  readonly events: EventsAnswer["events"];
  readonly held: Held;
  readonly manners: StreamManners | undefined;
}

async function streamEvents(
  out: Output,
  { events, held, manners }: Streaming,
  keepAliveMs: number,
): Promise<void> {
  const { response } = out;
  const { alive: sign = ": keep-alive\n\n", done = DONE } = manners ?? {};
  // One that does not read what it has is not silent: comments would only pile up.
  const keepAlive = (): void => {
    if (!response.writableNeedDrain) response.write(sign);
  };
  const alive = setInterval(keepAlive, keepAliveMs);
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
      // Ending the events says what that means for their run.
      if (response.destroyed) return;
    }
    response.end(done);
  } catch (thrown) {
    // A stream that just stops would look whole to some clients.
    const failure = toFailure(thrown);
    const broken = manners ? [{ sse: manners.toBroken(failure) }] : told.toBroken(failure);
    await writeAll(out, toFrames(broken));
    response.end(done);
  } finally {
    clearInterval(alive);
  }
}

const DONE = "data: [DONE]\n\n";

type Step = Promise<IteratorResult<readonly StreamEvent[]>>;

interface Held {
  /** What came while it was waited. */
  readonly batches: readonly (readonly StreamEvent[])[];
  /** What has been asked for and has not come. */
  readonly next?: Step | undefined;
  /** Set where it failed before it had said anything. */
  readonly failure?: Failure | undefined;
}

/** Waits for the first output, for a while. Beginnings alone are no output. */
async function holdBack(
  { events, failure: findFailure }: EventsAnswer,
  commitMs: number,
): Promise<Held> {
  const batches: (readonly StreamEvent[])[] = [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), commitMs);
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
    clearTimeout(timer);
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
