import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { describe, it } from "node:test";
import type { WebSocket } from "ws";
import { createOutbox } from "../../../src/server/socket/outbox.ts";
import { countTurns } from "../../base/count-turns.ts";

const SETTINGS = { maxBufferedBytes: 20, owner: "tenant" };
const LONG = "a long text that is too much";

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
    wire,
    written,
    socket: Object.assign(socket, { send }) as unknown as WebSocket,
    read: () => read(),
  };
}

describe("what goes out on a socket", () => {
  it("is one write for each batch, and waits if too much is unsent", async () => {
    const { wire, socket, written, read } = openWire();
    const outbox = createOutbox(socket, wire, SETTINGS);
    await outbox.send([{ n: 1 }, { n: 2 }]);
    assert.deepEqual(written, ['{"n":1}{"n":2}']);
    let isDone = false;
    const sent = outbox.send([{ text: LONG }]).then(() => {
      isDone = true;
    });
    await new Promise(setImmediate);
    assert.equal(isDone, false);
    read();
    await new Promise(setImmediate);
    read();
    await sent;
    assert.deepEqual(written, ['{"n":1}{"n":2}', `{"text":"${LONG}"}`]);
  });

  it("does not wait for a client that is gone", async () => {
    const { wire, socket } = openWire();
    const outbox = createOutbox(socket, wire, SETTINGS);
    const sent = outbox.send([{ text: LONG }]);
    wire.destroy();
    await sent;
    await outbox.send([{ n: 1 }]);
  });

  it("cuts off a client that asks for more than it reads", async () => {
    const { wire, socket } = openWire();
    const outbox = createOutbox(socket, wire, SETTINGS);
    for (let count = 0; count < 20; count++) outbox.say({ number: count });
    assert.equal(wire.destroyed, true);
  });

  it("is in many frames and turns of the event loop where it is large, with nothing between them", async () => {
    const { socket, messages, frames } = openSocket();
    const outbox = createOutbox(socket, openSink(), { maxBufferedBytes: 1_000_000, owner: "t" });
    const large = { type: "large", text: 'Grüße "🙂" '.repeat(300_000) };
    const { turns } = await countTurns(async () => {
      const first = outbox.send([{ n: 1 }, large, { n: 2 }]);
      await new Promise(setImmediate);
      outbox.say({ n: 3 });
      await Promise.all([first, outbox.send([large]), outbox.send([{ n: 4 }])]);
    });
    assert.ok(turns >= 4, `${turns} turns`);
    assert.ok(frames.length > 50, `${frames.length} frames`);
    const said = messages.map((message) => JSON.parse(message) as { n?: number });
    assert.deepEqual(said[0], { n: 1 });
    assert.deepEqual(said[1], large);
    assert.deepEqual(said.flatMap(({ n = 0 }) => n).sort(), [0, 0, 1, 2, 3, 4]);
  });

  it("is written in its tenant's turn where it is large", async () => {
    const sent: string[] = [];
    const send = async (owner: string): Promise<void> => {
      const outbox = createOutbox(openSocket().socket, openSink(), { ...SETTINGS, owner });
      await outbox.send([{ text: "x".repeat(3_000_000) }]);
      sent.push(owner);
    };
    const many = Array.from({ length: 8 }, () => send("many"));
    await send("one");
    assert.deepEqual(sent, ["one"]);
    await Promise.all(many);
  });

  it("cuts off who asks for more while a large event is written", async () => {
    const { socket } = openSocket();
    const wire = openSink();
    const ended = Object.assign(socket, { terminate: () => wire.destroy() });
    const outbox = createOutbox(ended, wire, SETTINGS);
    const sent = outbox.send([{ text: "x".repeat(3_000_000) }]);
    for (let count = 0; count < 20; count++) outbox.say({ number: count });
    assert.equal(wire.destroyed, true);
    await sent;
  });
});

/** Takes whatever is written at once. */
function openSink(): Duplex {
  return new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
}

/** Joins frames to messages, as the other end does. */
function openSocket(): { socket: WebSocket; messages: string[]; frames: string[] } {
  const messages: string[] = [];
  const frames: string[] = [];
  let open = "";
  const send = (text: string, { fin } = { fin: true }): void => {
    frames.push(text);
    open += text;
    if (!fin) return;
    messages.push(open);
    open = "";
  };
  return { messages, frames, socket: { readyState: 1, OPEN: 1, send } as unknown as WebSocket };
}
