/**
 * Accepts connections, and bounds what a client may send before its request is complete. A worker has no listening
 * socket: it receives connections that the primary has accepted.
 */

import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { App } from "../app.ts";
import { answerBrokenRequest } from "../guard/broken-request.ts";
import { type ListenAddress, listen, toUrlHost } from "./listen.ts";
import type { TlsOptions } from "./tls.ts";

export interface SocketLimits {
  readonly headersTimeoutMs: number;
  /** The longest time until the whole request has arrived. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept open. */
  readonly keepAliveTimeoutMs: number;
  readonly maxHeaderBytes: number;
  /** More connections are closed at once. */
  readonly maxConnections: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 65_000,
  maxHeaderBytes: 16_384,
  maxConnections: 10_000,
};

/** How often connections are checked for being too slow. */
const CHECK_MS = 1000;

/** Connections that another process accepts. */
export interface GivenConnections {
  /** Calls `take` with each connection from now on. Resolves with the port that they come from. */
  open(take: (socket: Socket) => void): Promise<number>;
  /** Stops taking connections. */
  close(): void;
}

export interface ListenOptions extends ListenAddress {
  /** The source of connections, in place of a socket of its own. */
  readonly given?: GivenConnections | undefined;
  readonly socket?: SocketLimits | undefined;
  /** Serves HTTPS if it is given. */
  readonly tls?: TlsOptions | undefined;
  /**
   * Takes over connections that become WebSockets. When left out, they are answered as requests.
   */
  readonly upgrade?: Upgrade | undefined;
}

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface PortListener {
  /** For example `http://127.0.0.1:8484`. */
  readonly url: string;
  /**
   * Sets the certificate from the next connection on. A listener without HTTPS stays without it.
   */
  setTls(options: TlsOptions): void;
  setLimits(limits: SocketLimits): void;
  /** Stops accepting connections; resolves when the open ones have ended. Idle ones end at once. */
  close(): Promise<void>;
  /** Ends connections that wait for a request. */
  closeIdle(): void;
  /** Ends all connections, also those with an answer in progress. */
  destroy(): void;
}

/** Rejects with `invalid_request` if it cannot listen. */
export async function openListener(options: ListenOptions, app: App): Promise<PortListener> {
  const { tls, upgrade, given, socket = SOCKET_LIMITS } = options;
  const handle = (...[request, response]: Parameters<App>): void => void app(request, response);
  // Node checks every half minute by itself, which is too rarely for limits in seconds.
  const checks = { connectionsCheckingInterval: CHECK_MS };
  // A request without a host is refused by the guard, in the API's form.
  const head = {
    maxHeaderSize: socket.maxHeaderBytes,
    noDelay: true,
    requireHostHeader: false,
    ...checks,
  };
  const server = tls ? createTlsServer({ ...head, ...tls }, handle) : createServer(head, handle);
  applyLimits(server, socket);
  server.on("clientError", answerBrokenRequest);
  // A request with another value of `Expect` is served too.
  server.on("checkExpectation", handle);
  if (upgrade) server.on("upgrade", upgrade);
  const open = trackConnections(server);
  const port = given ? await takeGiven(server, given, open) : await listen(server, options);
  return {
    url: toUrl(options, port),
    setTls: (changed) => {
      if (tls) (server as TlsServer).setSecureContext(changed);
    },
    setLimits: (limits) => applyLimits(server, limits),
    closeIdle: () => server.closeIdleConnections(),
    destroy: () => server.closeAllConnections(),
    async close() {
      given?.close();
      server.close().closeIdleConnections();
      await open.ended();
    },
  };
}

interface OpenConnections {
  readonly count: number;
  /** Resolves when no connection is open. */
  ended(): Promise<void>;
}

/** Node.js counts only connections that the server has accepted itself. */
function trackConnections(server: Server | TlsServer): OpenConnections {
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  const tellEnded = (): void => {
    if (sockets.size === 0) for (const resolve of waiting.splice(0)) resolve();
  };
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      tellEnded();
    });
  });
  return {
    get count() {
      return sockets.size;
    },
    ended: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        tellEnded();
      }),
  };
}

/** Does for a given connection what Node.js does by itself for one that the server has accepted. */
async function takeGiven(
  server: Server | TlsServer,
  given: GivenConnections,
  open: OpenConnections,
): Promise<number> {
  // At this event Node.js begins to check for connections that are too slow.
  server.emit("listening");
  return await given.open((socket) => {
    if (open.count >= server.maxConnections) return void socket.destroy();
    server.emit("connection", socket);
  });
}

function applyLimits(server: Server | TlsServer, limits: SocketLimits): void {
  server.headersTimeout = limits.headersTimeoutMs;
  // Longer than the limit of the body itself, whose answer says what was too slow.
  server.requestTimeout = limits.requestTimeoutMs + limits.headersTimeoutMs;
  server.keepAliveTimeout = limits.keepAliveTimeoutMs;
  server.maxConnections = limits.maxConnections;
}

function toUrl({ host, tls }: ListenOptions, port: number): string {
  return `${tls ? "https" : "http"}://${toUrlHost(host)}:${port}`;
}
