/**
 * A model's server on the loopback, for tests: one POST path below `/v1`, every request recorded,
 * every answer open to faults. The wires on top of it are `chat-upstream.ts` and
 * `responses-upstream.ts`.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { toFailure } from "../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";
import { type Connection, type Exchange, writeExchange } from "./exchange.ts";
import { applyFaults, type Faults, faultsOf, replacementOf } from "./faults/fault.ts";
import { type Rejection, reject, rejectionExchange, serverError } from "./rejection.ts";

export interface Upstream extends AsyncDisposable {
  /** The base URL, ending in `/v1`. */
  readonly url: string;
  /** Every request whose body has arrived, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** Resolves with the request of that number, from 1, once it has arrived. */
  waitForRequest(number: number): Promise<RecordedRequest>;
  /** Ends every connection. */
  close(): Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** The parsed body; empty when it is no JSON object. */
  readonly body: JsonObject;
  readonly text: string;
  /** Whether the client left before the answer's end. */
  readonly aborted: boolean;
  /** Settles when the exchange is over, whoever ended it. */
  readonly ended: Promise<void>;
}

export interface UpstreamOptions {
  /** The path below `/v1`: `/responses`. */
  readonly path: string;
  /** What is wrong with the request, if anything. No fault touches a rejection. */
  readonly check: (body: JsonObject) => Rejection | undefined;
  /** Answers a checked request. Not called when a fault answers in its place. */
  readonly answer: (body: JsonObject, signal: AbortSignal) => Promise<Exchange>;
  /** The bearer key that is asked for; none is by default. */
  readonly key?: string | undefined;
  readonly faults?: Faults | undefined;
}

export async function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  const requests: RecordedRequest[] = [];
  const waiting: { number: number; resolve: (request: RecordedRequest) => void }[] = [];
  const record = (request: RecordedRequest): number => {
    const number = requests.push(request);
    for (const waiter of waiting) if (waiter.number === number) waiter.resolve(request);
    return number;
  };

  const server = createServer((request, response) => {
    response.socket?.setNoDelay(true);
    serve(request, response, { options, record }).catch((thrown) => abandon(response, thrown));
  });
  const port = await listen(server);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    waitForRequest(number) {
      const arrived = requests[number - 1];
      if (arrived) return Promise.resolve(arrived);
      return new Promise((resolve) => waiting.push({ number, resolve }));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { options, record }: { options: UpstreamOptions; record: (request: RecordedRequest) => number },
): Promise<void> {
  const text = await readText(request);
  const parsed = tryParseJson(text);
  const { recorded, connection } = openRecord(request, response, { text, parsed });
  const number = record(recorded);

  const body = isJsonObject(parsed) ? parsed : undefined;
  const rejection = checkHttp(request, options, body) ?? options.check(body ?? {});
  if (rejection) return await writeExchange(rejectionExchange(rejection), connection);

  const faults = faultsOf(options.faults, number);
  const replaced = replacementOf(faults);
  const exchange =
    replaced ?? applyFaults(faults, await options.answer(body ?? {}, connection.signal));
  await writeExchange(exchange, connection);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** The record and the connection end together: a close we did not cause is the client leaving. */
function openRecord(
  request: IncomingMessage,
  response: ServerResponse,
  { text, parsed }: { text: string; parsed: unknown },
): { recorded: RecordedRequest; connection: Connection } {
  const over = new AbortController();
  let hungUp = false;
  let aborted = false;
  const ended = new Promise<void>((resolve) => {
    response.on("close", () => {
      aborted = !response.writableFinished && !hungUp;
      over.abort();
      resolve();
    });
  });
  const hangUp = (how: "cut" | "reset"): void => {
    hungUp = true;
    if (how === "cut") response.socket?.destroy();
    else response.socket?.resetAndDestroy();
  };
  const recorded = {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    body: isJsonObject(parsed) ? parsed : {},
    text,
    get aborted() {
      return aborted;
    },
    ended,
  };
  return { recorded, connection: { response, signal: over.signal, hangUp } };
}

function checkHttp(
  request: IncomingMessage,
  { path, key }: UpstreamOptions,
  body: JsonObject | undefined,
): Rejection | undefined {
  const [pathname] = (request.url ?? "").split("?");
  if (pathname !== `/v1${path}`) {
    return reject(`Invalid URL (${request.method} ${pathname})`, { status: 404 });
  }
  if (request.method !== "POST") {
    return reject("Only POST requests are accepted.", {
      status: 405,
      code: "method_not_supported",
    });
  }
  const { authorization } = request.headers;
  if (key !== undefined && authorization === undefined) {
    return reject("You didn't provide an API key: send it as `Authorization: Bearer KEY`.", {
      status: 401,
    });
  }
  if (key !== undefined && authorization !== `Bearer ${key}`) {
    return reject("Incorrect API key provided.", { status: 401, code: "invalid_api_key" });
  }
  if (!body) return reject("We could not parse the JSON body of your request.");
  return undefined;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** An engine that throws in the middle must not end the test process. */
function abandon(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent) {
    response.socket?.destroy();
    return;
  }
  const { error, status } = serverError(toFailure(thrown).message);
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}
