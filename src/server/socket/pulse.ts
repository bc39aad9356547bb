/** Asks again and again whether somebody is still at the other end; a connection without is cut off. */

import type { WebSocket } from "ws";

/** A client that is busy answers late; one that is gone does not answer. */
const MAX_MISSED = 3;

export function createPulse(socket: WebSocket, everyMs: number): { stop(): void } {
  let missed = 0;
  const isAlive = (): void => {
    missed = 0;
  };
  const timer = setInterval(() => {
    if (missed >= MAX_MISSED) return socket.terminate();
    missed++;
    socket.ping();
  }, everyMs);
  socket.on("pong", isAlive);
  socket.on("message", isAlive);
  return { stop: () => clearInterval(timer) };
}
