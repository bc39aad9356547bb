/**
 * One HTTP answer that is being sent, and the code that writes it. Faults change an exchange before it is written; an
 * `Act` in its body is done to the connection itself.
 */

import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";

export interface Exchange {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Piece>;
}

/** A string is one whole frame of the stream; bytes are what a fault made from frames. */
export type Piece = string | Buffer | Act;

/** Nothing is sent after an act. */
export interface Act {
  /** `cut`: close before the body's end. `reset`: TCP reset. `wait`: send nothing further, stay open. */
  readonly act: "cut" | "reset" | "wait";
}

export function isAct(piece: Piece): piece is Act {
  return typeof piece === "object" && "act" in piece;
}

export function sseExchange(body: Iterable<Piece> | AsyncIterable<Piece>): Exchange {
  return { status: 200, headers: SSE_HEADERS, body: toAsync(body) };
}

export function textExchange(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = { "content-type": "application/json" },
): Exchange {
  return { status, headers, body: toAsync(body === "" ? [] : [body]) };
}

export function isStream({ headers }: Exchange): boolean {
  return headers["content-type"] === SSE_HEADERS["content-type"];
}

/** The connection that an exchange is written to. */
export interface UpstreamConnection {
  readonly response: ServerResponse;
  /** Aborted once the connection is over. */
  readonly signal: AbortSignal;
  /** Ends the connection from our side. */
  hangUp(how: "cut" | "reset"): void;
}

/**
 * Writes piece by piece, each flushed before the next is asked for. Head and first piece are sent together, so an act
 * that comes first leaves the client without an answer.
 */
export async function writeExchange(
  exchange: Exchange,
  connection: UpstreamConnection,
): Promise<void> {
  const { response, signal } = connection;
  let pieces = 0;
  for await (const piece of exchange.body) {
    // Newer Node.js calls back before the event loop turns when a write fits into the socket's buffer: with an endless
    // body the server would never notice that its client has left.
    if (++pieces % PIECES_A_TURN === 0) await setImmediate();
    if (signal.aborted) return;
    if (isAct(piece)) return await perform(piece, connection);
    writeHead(exchange, response);
    if (piece.length > 0) await write(piece, connection);
  }
  if (signal.aborted) return;
  writeHead(exchange, response);
  response.end();
}

/** Few enough to notice at once that a client leaves, many enough to cost nothing. */
const PIECES_A_TURN = 32;

const SSE_HEADERS = { "content-type": "text/event-stream; charset=utf-8" } as const;

async function* toAsync(
  pieces: Iterable<Piece> | AsyncIterable<Piece>,
): AsyncGenerator<Piece, void> {
  yield* pieces;
}

function writeHead({ status, headers }: Exchange, response: ServerResponse): void {
  if (response.headersSent) return;
  response.writeHead(status, headers);
  response.flushHeaders();
}

async function perform({ act }: Act, connection: UpstreamConnection): Promise<void> {
  if (act === "wait") await aborted(connection.signal);
  else connection.hangUp(act);
}

/** Ends when the bytes are with the operating system, or when the client has gone. */
function write(piece: string | Buffer, { response, signal }: UpstreamConnection): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
    response.write(piece, done);
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
