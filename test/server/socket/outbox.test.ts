import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { describe, it } from "node:test";
import type { WebSocket } from "ws";
import { createOutbox } from "../../../src/server/socket/outbox.ts";

/** A wire whose other end reads when it is told to. */
function openWire(): { wire: Duplex; socket: WebSocket; written: string[]; read(): void } {
  const written: string[] = [];
  let read = (): void => {};
  const wire = new Duplex({
    highWaterMark: 10,
    read() {},
    writev(chunks, done) {
      written.push(chunks.map(({ chunk }) => String(chunk)).join(""));
      read = done;
    },
  });
  const socket = { readyState: 1, OPEN: 1, terminate: () => wire.destroy() };
  const send = (text: string): boolean => wire.write(text);
  return {
    ...{ wire, written },
    socket: Object.assign(socket, { send }) as unknown as WebSocket,
    read: () => read(),
  };
}

describe("what goes out on a socket", () => {
  it("is one write a batch, and waits where too much is on its way", async () => {
    const { wire, socket, written, read } = openWire();
    const outbox = createOutbox(socket, wire, { maxBufferedBytes: 20 });
    await outbox.send(["one ", "two "]);
    assert.deepEqual(written, ["one two "]);
    let isDone = false;
    const sent = outbox.send(["a long text that is too much"]).then(() => {
      isDone = true;
    });
    await new Promise(setImmediate);
    assert.equal(isDone, false);
    read();
    await new Promise(setImmediate);
    read();
    await sent;
    assert.deepEqual(written, ["one two ", "a long text that is too much"]);
  });

  it("does not wait for a client that is gone", async () => {
    const { wire, socket } = openWire();
    const outbox = createOutbox(socket, wire, { maxBufferedBytes: 20 });
    const sent = outbox.send(["a long text that is too much"]);
    wire.destroy();
    await sent;
    await outbox.send(["more"]);
  });

  it("cuts off who asks for more than is read", async () => {
    const { wire, socket } = openWire();
    const outbox = createOutbox(socket, wire, { maxBufferedBytes: 20 });
    for (let count = 0; count < 20; count++) outbox.say({ number: count });
    assert.equal(wire.destroyed, true);
  });
});
