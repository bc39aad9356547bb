/**
 * WebSockets on `/v1/responses`. A request for one passes the guard as an HTTP request; a refusal is an HTTP answer,
 * before there is a socket.
 */

import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { clip } from "../../base/text.ts";
import type { ResponsesApi } from "../../responses/api/api.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import { toFailureAnswer } from "../failure-answer.ts";
import type { Guard } from "../guard.ts";
import { type ConnectionParts, type OpenSocket, openConnection } from "./connection.ts";
import { SOCKET_SETTINGS, type SocketSettings } from "./socket-settings.ts";
import { REQUEST_ID, type WatchSocket } from "./watch-socket.ts";

export interface SocketParts {
  readonly api: ResponsesApi;
  readonly guard: Guard;
  /** The path before all addresses; none when left out. */
  readonly prefix?: string | undefined;
  readonly clock: Clock;
  readonly settings?: Partial<SocketSettings> | undefined;
  /** Called for each failure that is a defect of this server. */
  readonly onDefect: (thrown: unknown) => void;
  /** Called for each handshake and each turn. */
  readonly watch?: WatchSocket | undefined;
}

export interface SocketHandler {
  /** For the `upgrade` event of a server. From then on this handler owns the connection. */
  upgrade(request: IncomingMessage, wire: Duplex, head: Buffer): void;
  /** Number of open sockets. */
  open(): number;
  /**
   * Stops accepting sockets; resolves when the running turns have ended and all sockets are closed.
   */
  drain(): Promise<void>;
  /** Ends the running turns: each says why. */
  cut(reason: Failure): void;
  /** Closes all sockets at once, whatever runs. */
  destroy(): void;
}

export const SOCKET_PATH = "/v1/responses";
const ROUTE = `GET ${SOCKET_PATH}`;
const SWITCHED = 101;

export function createSocketHandler(parts: SocketParts): SocketHandler {
  const settings: SocketSettings = { ...SOCKET_SETTINGS, ...parts.settings };
  const { prefix = "" } = parts;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: settings.maxMessageBytes,
    // Compression would cost a third of a megabyte for each connection, and most of the CPU of a stream.
    perMessageDeflate: false,
  });
  const headersOf = new WeakMap<IncomingMessage, readonly string[]>();
  server.on("headers", (lines, request) => lines.push(...(headersOf.get(request) ?? [])));
  server.on("wsClientError", ({ message }, wire) => {
    const failure = new Failure(
      "invalid_request",
      `This is not a valid WebSocket handshake: ${message}.`,
    );
    refuse(wire, failure, makeId("req"));
  });
  const connections = new Set<OpenSocket>();
  /** Called when all sockets are closed. Set while it drains. */
  const onEmpty = new Set<() => void>();

  const take = (taken: Pick<ConnectionParts, "socket" | "request" | "wire" | "tenant">): void => {
    const { socket } = taken;
    const connection = openConnection({ ...parts, ...taken, settings });
    connections.add(connection);
    socket.on("close", () => {
      connections.delete(connection);
      if (connections.size === 0) for (const resolve of onEmpty) resolve();
    });
    if (onEmpty.size > 0) connection.drain();
  };
  return {
    upgrade(request, wire, head) {
      // A client that goes away during the handshake is not an error.
      wire.on("error", () => {});
      const requestId = makeId("req");
      const route = toRoute(request, prefix);
      const ended = parts.watch?.({ method: "GET", route, request, requestId });
      admit(parts.guard, request, { prefix, isDraining: onEmpty.size > 0 }).then(
        ({ headers, caller: { tenant, keyId } }) => {
          ended?.({ status: SWITCHED, tenant, keyId });
          headersOf.set(request, [...headers, `${REQUEST_ID}: ${requestId}`]);
          server.handleUpgrade(request, wire, head, (socket) =>
            take({ socket, request, wire, tenant }),
          );
        },
        (thrown: unknown) => {
          const failure = toFailure(thrown);
          if (failure.code === "internal") parts.onDefect(thrown);
          ended?.({ status: toFailureAnswer(failure, "responses").status ?? 500 });
          refuse(wire, failure, requestId);
        },
      );
    },
    open: () => connections.size,
    drain: () =>
      new Promise((resolve) => {
        onEmpty.add(resolve);
        for (const connection of connections) connection.drain();
        if (connections.size === 0) resolve();
      }),
    cut(reason) {
      for (const connection of connections) connection.cut(reason);
    },
    destroy() {
      for (const connection of connections) connection.destroy();
    },
  };
}

interface AdmittedSocket {
  /** Headers that the guard adds to the answer. */
  readonly headers: readonly string[];
  readonly caller: Caller;
}

async function admit(
  guard: Guard,
  request: IncomingMessage,
  { prefix, isDraining }: { readonly prefix: string; readonly isDraining: boolean },
): Promise<AdmittedSocket> {
  checkUpgrade(request, `${prefix}${SOCKET_PATH}`);
  if (isDraining) throw new Failure("draining", "The server is about to stop.");
  const headers: string[] = [];
  const answer = { setHeader: (name: string, value: string) => headers.push(`${name}: ${value}`) };
  const admitted = await guard.admit(request, "responses", { route: ROUTE, answer });
  // Only the handshake ends here: each turn is admitted separately, and a silent socket takes no place.
  admitted.done({ route: ROUTE, status: SWITCHED, target: undefined });
  return { headers, caller: admitted.caller };
}

/** An invalid path must not throw: clients may send anything. */
function toRoute({ url = "/" }: IncomingMessage, prefix: string): string | undefined {
  return url.split("?", 1)[0] === `${prefix}${SOCKET_PATH}` ? SOCKET_PATH : undefined;
}

function checkUpgrade({ url = "/", method, headers }: IncomingMessage, offered: string): void {
  const [path = "/"] = url.split("?", 1);
  if (headers.upgrade?.toLowerCase() !== "websocket") {
    const message = `Only WebSockets are offered, not \`${clip(headers.upgrade ?? "", 40)}\`. Leave out the \`upgrade\` header.`;
    throw new Failure("invalid_request", message);
  }
  if (path !== offered) {
    const message = `There is no WebSocket at \`${clip(path, 80)}\`, only at \`${offered}\`.`;
    throw new Failure("not_found", message);
  }
  if (method !== "GET") {
    throw new Failure("wrong_method", `A WebSocket is opened with GET, not ${method}.`);
  }
}

function refuse(wire: Duplex, failure: Failure, requestId: string): void {
  const { status = 500, body, headers } = toFailureAnswer(failure, "responses");
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    [REQUEST_ID]: requestId,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    connection: "close",
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  wire.once("finish", () => wire.destroy());
  wire.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${head}\r\n${text}`);
}
