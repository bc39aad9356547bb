/** What goes out on a socket. A client that reads slowly slows its own responses, and nobody else's. */

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

export interface Outbox {
  /** Resolves when there is room for more, or nobody to send to. */
  send(texts: readonly string[]): Promise<void>;
  /** For what nobody waits for. Who asks for much of it and reads none of it is cut off. */
  say(event: object): void;
}

/** How much more may wait of what is not waited for. */
const PATIENCE = 4;

export function createOutbox(
  socket: WebSocket,
  wire: Duplex,
  { maxBufferedBytes }: { readonly maxBufferedBytes: number },
): Outbox {
  return {
    async send(texts) {
      if (socket.readyState !== socket.OPEN) return;
      // One write for a batch; the socket makes two of each message.
      wire.cork();
      for (const text of texts) socket.send(text);
      wire.uncork();
      if (wire.writableLength > maxBufferedBytes) await drained(wire);
    },
    say(event) {
      if (wire.writableLength > PATIENCE * maxBufferedBytes) return socket.terminate();
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(event));
    },
  };
}

function drained(wire: Duplex): Promise<void> {
  if (wire.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      wire.off("drain", done);
      wire.off("close", done);
      resolve();
    };
    wire.on("drain", done);
    wire.on("close", done);
  });
}
