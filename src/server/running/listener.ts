/** A socket that listens, and what it takes of anybody before a request is one. Several worker processes may share it. */

import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { Failure } from "../../base/failure.ts";
import type { App } from "../app.ts";
import { answerBrokenRequest } from "../guard/broken-request.ts";
import type { TlsOptions } from "./tls.ts";

export interface SocketLimits {
  readonly headersTimeoutMs: number;
  /** Until the whole request has arrived. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveTimeoutMs: number;
  readonly maxHeaderBytes: number;
  /** More are closed at once. */
  readonly maxConnections: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 65_000,
  maxHeaderBytes: 16_384,
  maxConnections: 10_000,
};

/** How often connections are looked at for being too slow. */
const CHECK_MS = 1000;

export interface ListenOptions {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  readonly socket?: SocketLimits | undefined;
  /** HTTPS where it is there. */
  readonly tls?: TlsOptions | undefined;
  /** Takes over connections that are to become WebSockets; without it they are answered as requests. */
  readonly upgrade?: Upgrade | undefined;
}

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface Listener {
  /** `http://127.0.0.1:8484`. */
  readonly url: string;
  /** From the next connection on; the certificate of one that has none stays none. */
  setTls(options: TlsOptions): void;
  setLimits(limits: SocketLimits): void;
  /** Takes no more connections; resolves when those there are have ended. Idle ones end at once. */
  close(): Promise<void>;
  /** Ends connections that wait for a request. */
  closeIdle(): void;
  /** Ends all connections, whatever is on its way. */
  destroy(): void;
}

/** Rejects with `invalid_request` where it cannot listen. */
export async function openListener(options: ListenOptions, app: App): Promise<Listener> {
  const { tls, upgrade, socket = SOCKET_LIMITS } = options;
  const handle = (...[request, response]: Parameters<App>): void => void app(request, response);
  // Its own interval is half a minute: limits in seconds would not hold.
  const checks = { connectionsCheckingInterval: CHECK_MS };
  // A request without a host is the guard's to refuse, in the API's form.
  const head = {
    ...{ maxHeaderSize: socket.maxHeaderBytes, noDelay: true, requireHostHeader: false },
    ...checks,
  };
  const server = tls ? createTlsServer({ ...head, ...tls }, handle) : createServer(head, handle);
  applyLimits(server, socket);
  server.on("clientError", answerBrokenRequest);
  // Whatever else is expected is no reason to refuse it.
  server.on("checkExpectation", handle);
  if (upgrade) server.on("upgrade", upgrade);
  await listen(server, options);
  return {
    url: toUrl(server, options),
    setTls: (changed) => {
      if (tls) (server as TlsServer).setSecureContext(changed);
    },
    setLimits: (limits) => applyLimits(server, limits),
    closeIdle: () => server.closeIdleConnections(),
    destroy: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

function applyLimits(server: Server | TlsServer, limits: SocketLimits): void {
  server.headersTimeout = limits.headersTimeoutMs;
  // Behind the limit of the body itself, whose answer says what was too slow.
  server.requestTimeout = limits.requestTimeoutMs + limits.headersTimeoutMs;
  server.keepAliveTimeout = limits.keepAliveTimeoutMs;
  server.maxConnections = limits.maxConnections;
}

function listen(server: Server | TlsServer, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void => reject(toRefusal(cause, host, port));
    server.once("error", onError);
    server.listen(port, host, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else listens there. Choose another `--port`",
  EACCES: "it needs more rights. Choose a `--port` of 1024 or more",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such host",
};

function toRefusal(cause: NodeJS.ErrnoException, host: string, port: number): Failure {
  const reason = REASONS[cause.code ?? ""] ?? cause.message;
  const message = `The server cannot listen at ${toHost(host)}:${port}: ${reason}.`;
  return new Failure("invalid_request", message, { cause });
}

function toUrl(server: Server | TlsServer, { host, tls }: ListenOptions): string {
  const { port } = server.address() as AddressInfo;
  return `${tls ? "https" : "http"}://${toHost(host)}:${port}`;
}

function toHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
