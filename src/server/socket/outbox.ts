/**
 * Sends events to the client of a socket. A client that reads slowly delays only its own responses. A large event is
 * one message in several frames, which are written in slices: neither this process nor the socket holds its whole
 * text.
 */

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { isLarge, writeInSlices } from "../../base/json-pieces.ts";

export interface Outbox {
  /** Resolves when there is room for more, or when the client is gone. */
  send(events: readonly object[]): Promise<void>;
  /**
   * Sends an event without waiting for room. A client that asks for many such events and reads none is cut off.
   */
  say(event: object): void;
}

export interface OutboxSettings {
  readonly maxBufferedBytes: number;
  /** The tenant of the socket: tenants take turns with large events. */
  readonly owner: string;
}

/** How many times the usual limit may wait for events that are sent without waiting for room. */
const PATIENCE = 4;

export function createOutbox(
  socket: WebSocket,
  wire: Duplex,
  { maxBufferedBytes, owner }: OutboxSettings,
): Outbox {
  const isOpen = (): boolean => socket.readyState === socket.OPEN;
  /** Resolves when the large event in progress is written: nothing may stand between its frames. */
  let isWritten: Promise<void> | undefined;
  /** Texts that came meanwhile, and their length. */
  let held: string[] = [];
  let heldLength = 0;

  function sendTexts(texts: readonly string[]): void {
    if (!isOpen()) return;
    // One write for a batch; the socket itself makes two for each message.
    wire.cork();
    for (const text of texts) socket.send(text);
    wire.uncork();
  }

  const makeRoom = async (): Promise<void> => {
    if (wire.writableLength > maxBufferedBytes) await drained(wire);
  };

  async function sendAlone(event: object): Promise<void> {
    const done = sendPieces(socket, writeInSlices(event, owner), makeRoom);
    isWritten = done;
    try {
      await done;
    } finally {
      isWritten = undefined;
      const said = held;
      [held, heldLength] = [[], 0];
      sendTexts(said);
    }
  }

  return {
    async send(events) {
      for (const batch of toBatches(events)) {
        while (isWritten) await isWritten;
        if (!isOpen()) return;
        if ("texts" in batch) sendTexts(batch.texts);
        else await sendAlone(batch.large);
      }
      await makeRoom();
    },
    say(event) {
      const limit = PATIENCE * maxBufferedBytes;
      if (wire.writableLength + heldLength > limit) return socket.terminate();
      const text = JSON.stringify(event);
      if (!isWritten) return sendTexts([text]);
      held.push(text);
      heldLength += text.length;
    },
  };
}

/** One message in frames, as its pieces come. */
async function sendPieces(
  socket: WebSocket,
  pieces: AsyncIterable<string>,
  makeRoom: () => Promise<void>,
): Promise<void> {
  let last: string | undefined;
  for await (const piece of pieces) {
    if (socket.readyState !== socket.OPEN) return;
    if (last !== undefined) socket.send(last, { fin: false });
    last = piece;
    await makeRoom();
  }
  const isOpen = socket.readyState === socket.OPEN;
  if (isOpen && last !== undefined) socket.send(last, { fin: true });
}

type Batch = { readonly texts: readonly string[] } | { readonly large: object };

/** Texts that can be written together, and the large events between them. */
function* toBatches(events: readonly object[]): Generator<Batch> {
  let texts: string[] = [];
  for (const event of events) {
    if (!isLarge(event)) texts.push(JSON.stringify(event));
    else {
      if (texts.length > 0) yield { texts };
      texts = [];
      yield { large: event };
    }
  }
  if (texts.length > 0) yield { texts };
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
