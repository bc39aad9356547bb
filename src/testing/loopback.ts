/**
 * A server on the loopback with as many paths as a vendor has: every request is recorded, and
 * answered by an exchange. The caller decides what is accepted and refused.
 */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { toFailure } from "../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";
import { type Exchange, type UpstreamConnection, writeExchange } from "./exchange/exchange.ts";

export interface Upstream extends AsyncDisposable {
  /** The base URL: it ends in `/v1` if the API's paths are below that. */
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
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; empty when it is not a JSON object. */
  readonly body: JsonObject;
  readonly text: string;
  /** True if the client left before the answer's end. */
  readonly aborted: boolean;
  /** Settles when the exchange is over, whichever side ended it. */
  readonly ended: Promise<void>;
}

export interface LoopbackOptions {
  /** The path after the origin in the server's `url`: `/v1`, or nothing. */
  readonly basePath: string;
  /** Called once the body has arrived. The signal is aborted when the connection is over. */
  readonly answer: (asked: UpstreamRequest, signal: AbortSignal) => Promise<Exchange>;
}

export interface UpstreamRequest {
  readonly request: RecordedRequest;
  /** Without its query. */
  readonly path: string;
  /** From 1, over all paths. */
  readonly number: number;
}

export async function startLoopback(options: LoopbackOptions): Promise<Upstream> {
  const log = createRequestLog();
  // An idle connection stays open: one that is closed just as it is used again would look like a
  // fault.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    response.socket?.setNoDelay(true);
    serve(request, response, { options, log }).catch((thrown) => abandon(response, thrown));
  });
  const port = await listen(server);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}${options.basePath}`,
    requests: log.requests,
    waitForRequest: log.waitForRequest,
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface RequestLog extends Pick<Upstream, "requests" | "waitForRequest"> {
  /** Returns the request's number. */
  add(request: RecordedRequest): number;
}

function createRequestLog(): RequestLog {
  const requests: RecordedRequest[] = [];
  const waiting: { number: number; resolve: (request: RecordedRequest) => void }[] = [];
  return {
    requests,
    add(request) {
      const number = requests.push(request);
      for (const waiter of waiting) if (waiter.number === number) waiter.resolve(request);
      return number;
    },
    waitForRequest(number) {
      const arrived = requests[number - 1];
      if (arrived) return Promise.resolve(arrived);
      return new Promise((resolve) => waiting.push({ number, resolve }));
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  { options, log }: { options: LoopbackOptions; log: RequestLog },
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  const { request, connection } = openRecord(incoming, response, text);
  const number = log.add(request);
  const [path = ""] = request.path.split("?");
  const exchange = await options.answer({ request, path, number }, connection.signal);
  await writeExchange(exchange, connection);
}

/**
 * The record and the connection end together: a close that we did not cause means that the client
 * left.
 */
function openRecord(
  incoming: IncomingMessage,
  response: ServerResponse,
  text: string,
): { request: RecordedRequest; connection: UpstreamConnection } {
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
  const parsed = tryParseJson(text);
  const request = {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: isJsonObject(parsed) ? parsed : {},
    text,
    get aborted() {
      return aborted;
    },
    ended,
  };
  return { request, connection: { response, signal: over.signal, hangUp } };
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
  const error = toFailure(thrown).message;
  response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}
