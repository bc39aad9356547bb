/**
 * When an answer has to end early: its client has gone away, or the server stops and has no time left.
 * One pair for all requests of a connection, which are answered one after the other.
 */

import type { Socket } from "node:net";
import type { Failure } from "../base/failure.ts";

interface Signals {
  readonly left: AbortController;
  /** Made for those who ask: most requests do not. */
  cut: AbortController | undefined;
}

const signals = new WeakMap<Socket, Signals>();

/** Aborts when the client has gone away, and with a `Failure` when the connection is cut. */
export function signalOf(socket: Socket): AbortSignal {
  return signalsOf(socket).left.signal;
}

/** Aborts with a `Failure` when the connection is cut: for answers that are given without a client too. */
export function cutSignalOf(socket: Socket): AbortSignal {
  const known = signalsOf(socket);
  known.cut ??= new AbortController();
  return known.cut.signal;
}

/** Ends what is being answered on a connection. The answer says why. */
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
