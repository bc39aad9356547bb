/**
 * What goes out on a socket. A client that reads slowly slows its own responses, and nobody else's. An event that
 * is large is one message in several frames, which are written in slices: neither this process nor the
 * socket has its text as a whole.
 */

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { isLarge, writeInSlices } from "../../base/json-pieces.ts";

export interface Outbox {
  /** Resolves when there is room for more, or nobody to send to. */
  send(events: readonly object[]): Promise<void>;
  /** For what nobody waits for. Who asks for much of it and reads none of it is cut off. */
  say(event: object): void;
}

export interface OutboxSettings {
  readonly maxBufferedBytes: number;
  /** Whose socket it is: tenants take turns with what is large. */
  readonly owner: string;
}

/** How much more may wait of what is not waited for. */
const PATIENCE = 4;

export function createOutbox(
  socket: WebSocket,
  wire: Duplex,
  { maxBufferedBytes, owner }: OutboxSettings,
): Outbox {
  const isOpen = (): boolean => socket.readyState === socket.OPEN;
  /** Resolves when the large event that is on its way is written: nothing may stand between its frames. */
  let isWritten: Promise<void> | undefined;
  /** What was said meanwhile, and how long it is. */
  let held: string[] = [];
  let heldLength = 0;

  function sendTexts(texts: readonly string[]): void {
    if (!isOpen()) return;
    // One write for a batch; the socket makes two of each message.
    wire.cork();
    for (const text of texts) socket.send(text);
    wire.uncork();
  }

  async function sendLarge(event: object): Promise<void> {
    let last: string | undefined;
    for await (const piece of writeInSlices(event, owner)) {
      if (!isOpen()) return;
      if (last !== undefined) socket.send(last, { fin: false });
      last = piece;
      if (wire.writableLength > maxBufferedBytes) await drained(wire);
    }
    if (isOpen() && last !== undefined) socket.send(last, { fin: true });
  }

  async function sendAlone(event: object): Promise<void> {
    const done = sendLarge(event);
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
      if (wire.writableLength > maxBufferedBytes) await drained(wire);
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

type Batch = { readonly texts: readonly string[] } | { readonly large: object };

/** The texts that go together, and the large events between them. */
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
