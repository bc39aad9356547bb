/**
 * Signals that end an answer early: its client has gone away, or the server stops and has no time left. One pair
 * serves all requests of a connection, because they are answered one after the other.
 */

import type { Socket } from "node:net";
import type { Failure } from "../base/failure.ts";

interface Signals {
  readonly left: AbortController;
  /** Made when its signal is first read: most requests never read it. */
  cut: AbortController | undefined;
}

const signals = new WeakMap<Socket, Signals>();

/** Aborts when the client has gone away, and with a `Failure` when the connection breaks. */
export function signalOf(socket: Socket): AbortSignal {
  return signalsOf(socket).left.signal;
}

/**
 * Aborts with a `Failure` when the connection breaks. For answers that continue without a client, too.
 */
export function cutSignalOf(socket: Socket): AbortSignal {
  const known = signalsOf(socket);
  known.cut ??= new AbortController();
  return known.cut.signal;
}

/** Ends the answer in progress on a connection. The answer says why. */
export function cutClient(socket: Socket, reason: Failure): void {
  const known = signals.get(socket);
  known?.cut?.abort(reason);
  known?.left.abort(reason);
}

function signalsOf(socket: Socket): Signals {
  const known = signals.get(socket);
  if (known) return known;
  const left = new AbortController();
  socket.once("close", () => left.abort());
  const made: Signals = { left, cut: undefined };
  signals.set(socket, made);
  return made;
}
