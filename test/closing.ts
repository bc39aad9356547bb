/** Waiting for the end of what ends by itself. */

import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Resolves when a socket is closed, also where it was before and where it broke: `once` of `node:events` waits
 * for ever for the one, and rejects for the other.
 */
export function whenClosed(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => void socket.once("close", () => resolve()));
}

/** Resolves when a process has ended, also where it had before. */
export function whenEnded(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => void child.once("exit", () => resolve()));
}
