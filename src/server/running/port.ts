/**
 * The port of a server with several workers. The primary owns it, so it stays when workers die, also when all do.
 * A port of `node:cluster` closes with the last worker that listens, and one that was any free port is another one
 * afterwards; besides, a connection that it has sent to a worker that dies stays open and is never answered.
 *
 * The primary reads nothing of a connection. It keeps its end open until a worker says that it has it, which the
 * worker says before it reads, so what was not said to be taken can be given to another worker as it came.
 */

import type { Worker } from "node:cluster";
import { createServer, type Socket } from "node:net";
import { createConnectionTurns } from "./connection-turns.ts";
import { type ListenAddress, listen } from "./listen.ts";
import type { ToWorker } from "./worker-messages.ts";

export interface Port {
  readonly number: number;
  /** From now on the worker is given connections. */
  join(worker: Worker): void;
  /** The worker has the connection that it was given. */
  taken(worker: Worker): void;
  /** The worker says nothing more: what it said before was heard. */
  leave(worker: Worker): void;
  /** Ends connections that no worker has taken, too. */
  close(): void;
}

interface PortOptions extends ListenAddress {
  /** Most that wait for a worker; more are closed at once. */
  readonly maxConnections: number;
}

/** Rejects with `invalid_request` where it cannot listen. */
export async function openPort({ maxConnections, ...address }: PortOptions): Promise<Port> {
  const turns = createConnectionTurns(sendConnection);
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    // A client that goes is the worker's to notice.
    socket.on("error", () => {});
    turns.add(socket);
  });
  server.maxConnections = maxConnections;
  const number = await listen(server, address);
  return {
    number,
    join: turns.join,
    // The worker's end of it stays open.
    taken: (worker) => void turns.taken(worker)?.destroy(),
    leave: turns.leave,
    close() {
      server.close();
      for (const socket of turns.takeAll()) socket.destroy();
    },
  };
}

/** One that is lost with its worker is given to another as soon as that one is known to be gone. */
function sendConnection(worker: Worker, socket: Socket): void {
  const message: ToWorker = { type: "connection" };
  if (worker.isConnected()) worker.send(message, socket, { keepOpen: true });
}
