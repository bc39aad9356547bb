/**
 * The port of a server with several workers. The primary owns it, so it stays open when workers die, also when all of
 * them do. A port of `node:cluster` closes with the last worker that listens, and port 0 would then give another
 * number. A connection that `node:cluster` has sent to a worker that dies stays open and is never answered.
 *
 * The primary reads nothing from a connection. It keeps its end open until the worker confirms that it has the
 * connection. The worker confirms before it reads, so a connection that was not confirmed can be given to another
 * worker unchanged.
 */

import type { Worker } from "node:cluster";
import { createServer, type Socket } from "node:net";
import { createConnectionTurns } from "./connection-turns.ts";
import { type ListenAddress, listen } from "./listen.ts";
import type { ToWorker } from "./worker-messages.ts";

export interface Port {
  readonly number: number;
  /** Gives connections to the worker from now on. */
  join(worker: Worker): void;
  /** Notes that the worker has confirmed the connection that it was given. */
  taken(worker: Worker): void;
  /**
   * Call it when the worker takes no more connections: it has said so, or it can send no further messages and all
   * earlier ones were read. False if no worker is left.
   */
  leave(worker: Worker): boolean;
  /** Closes the port, and the connections that no worker has taken. */
  close(): void;
}

interface PortOptions extends ListenAddress {
  /** The most connections that wait for a worker; more are closed at once. */
  readonly maxConnections: number;
}

/** Rejects with `invalid_request` if it cannot listen. */
export async function openPort({ maxConnections, ...address }: PortOptions): Promise<Port> {
  const turns = createConnectionTurns(sendConnection);
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    // The worker notices a client that goes away.
    socket.on("error", () => {});
    turns.add(socket);
  });
  server.maxConnections = maxConnections;
  const number = await listen(server, address);
  return {
    number,
    join: turns.join,
    // Closes the primary's end. The worker's end stays open.
    taken: (worker) => void turns.taken(worker)?.destroy(),
    leave: turns.leave,
    close() {
      server.close();
      for (const socket of turns.takeAll()) socket.destroy();
    },
  };
}

/**
 * If it is lost with its worker, it is given to another one as soon as that worker is known to be gone.
 */
function sendConnection(worker: Worker, socket: Socket): void {
  const message: ToWorker = { type: "connection" };
  if (worker.isConnected()) worker.send(message, socket, { keepOpen: true });
}
