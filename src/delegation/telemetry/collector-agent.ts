/**
 * Connections to a collector. A collector that cannot be reached is not tried again: the exporter would wait for
 * seconds to do so, and a command that is done would wait with it.
 */

import { readFile } from "node:fs/promises";
import type { Agent } from "node:http";
import type { Socket } from "node:net";
import type { OtlpSettings } from "./otlp-settings.ts";

export interface CollectorConnections {
  /** Makes the agent of an exporter. */
  open(protocol: string): Promise<Agent>;
  /** Closes open connections; nothing can be sent after that. */
  close(): void;
}

export function createCollectorConnections(tls: OtlpSettings["tls"]): CollectorConnections {
  const sockets = new Set<Socket>();
  let isClosed = false;
  const watch = (socket: Socket): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    const refuse = (error: NodeJS.ErrnoException): void => {
      // The exporter decides by the error's code whether to try again.
      delete error.code;
    };
    socket.prependListener("error", refuse);
    // A kept connection that is reset when it is used again is worth another try.
    socket.once("connect", () => socket.off("error", refuse));
  };
  return {
    async open(protocol) {
      const { Agent } =
        protocol === "http:" ? await import("node:http") : await import("node:https");
      const agent = new Agent({ keepAlive: true, ...(await readCertificates(tls)) });
      const connect = agent.createConnection.bind(agent);
      agent.createConnection = (...args) => {
        // Thrown, not passed to the callback: the exporter would try again for a socket that was destroyed.
        if (isClosed) throw toClosed();
        const socket = connect(...args);
        if (socket) watch(socket as Socket);
        return socket;
      };
      return agent;
    },
    close() {
      isClosed = true;
      for (const socket of sockets) socket.destroy(toClosed());
    },
  };
}

/** Without a code: the exporter would try again. */
function toClosed(): Error {
  return new Error("Telemetry was closed.");
}

async function readCertificates(tls: OtlpSettings["tls"]): Promise<Record<string, Buffer>> {
  const read: Record<string, Buffer> = {};
  for (const [name, path] of Object.entries(tls)) {
    if (path !== undefined) read[name] = await readFile(path);
  }
  return read;
}
