/**
 * WebSockets under attack: handshakes, frames, floods. A refusal has a reason, and the server stays
 * healthy.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { revokeKey } from "../../src/server/guard/keys.ts";
import type { SocketSettings } from "../../src/server/socket/socket-settings.ts";
import { createGuardBench, type GuardBench } from "../server/guard/guard-fixture.ts";
import {
  connectSocket,
  type SocketServer,
  startSocketServer,
} from "../server/socket/socket-fixture.ts";
import { HELLO, sayRaw } from "./server-attack-fixture.ts";

interface Attacked extends SocketServer {
  readonly bench: GuardBench;
  readonly token: string;
  isWell(): Promise<void>;
}

async function start(t: TestContext, settings: Partial<SocketSettings> = {}): Promise<Attacked> {
  const bench = createGuardBench();
  const { guard } = bench;
  const socket = { settings: { maxMessageBytes: 1_000_000, ...settings } };
  const server = await startSocketServer(t, HELLO, { guard, socket, server: { guard } });
  const { token } = await bench.makeKey();
  const connectAgain = () => server.connect({ authorization: `Bearer ${token}` });
  return {
    ...server,
    bench,
    token,
    connect: connectAgain,
    async isWell() {
      const socket = await connectAgain();
      const events = await socket.turn({ input: "Are you well?", store: false });
      assert.equal(events.at(-1)?.type, "response.completed");
      socket.raw.terminate();
    },
  };
}

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";

function toHandshake(
  headers: Readonly<Record<string, string | undefined>>,
  path = "/v1/responses",
) {
  const all = {
    host: "127.0.0.1",
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": KEY,
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  );
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

describe("handshakes that attack", () => {
  it("are refused as HTTP, in the API's form", async (t) => {
    const server = await start(t);
    const expired = await server.bench.makeKey({ expiresAtMs: 0 });
    const narrow = await server.bench.makeKey({ scopes: ["models"] });
    const authorization = `Bearer ${server.token}`;
    const rows: Readonly<Record<string, readonly [number, string]>> = {
      "no key": [401, toHandshake({})],
      "a wrong key": [401, toHandshake({ authorization: `Bearer ${server.token.slice(0, -1)}0f` })],
      "an expired key": [401, toHandshake({ authorization: `Bearer ${expired.token}` })],
      "a key in the address": [401, toHandshake({}, `/v1/responses?api_key=${server.token}`)],
      "a key as a protocol": [401, toHandshake({ "sec-websocket-protocol": server.token })],
      "a key without the scope": [403, toHandshake({ authorization: `Bearer ${narrow.token}` })],
      "another's name": [403, toHandshake({ authorization, host: "evil.example" })],
      "no name": [403, toHandshake({ authorization, host: undefined })],
      "another's page": [403, toHandshake({ authorization, origin: "https://evil.example" })],
      "a page of no origin": [403, toHandshake({ authorization, origin: "null" })],
      "a page across sites": [403, toHandshake({ authorization, "sec-fetch-site": "cross-site" })],
      "another path": [404, toHandshake({ authorization }, "/v1/files")],
      "a path with dots": [404, toHandshake({ authorization }, "/v1/responses/../responses")],
      "another protocol": [400, toHandshake({ authorization, upgrade: "h2c" })],
      "an old version": [400, toHandshake({ authorization, "sec-websocket-version": "1" })],
      "no nonce": [400, toHandshake({ authorization, "sec-websocket-key": undefined })],
      "an invalid nonce": [400, toHandshake({ authorization, "sec-websocket-key": "x" })],
    };
    for (const [name, [status, text]] of Object.entries(rows)) {
      // A message that is sent before the client was let in is ignored.
      const early = toFrame(1, Buffer.from('{"type":"response.create","input":"x"}'));
      const answer = await sayRaw(server.url, text + early.toString("latin1"));
      assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), `${name}: ${answer}`);
      const [, body = ""] = answer.split("\r\n\r\n");
      const { error } = JSON.parse(body) as { error: object };
      assert.deepEqual(Object.keys(error), ["message", "type", "param", "code"], name);
      assert.ok(!answer.includes(server.token), name);
    }
    assert.equal(server.upstream.requests.length, 0);
    assert.equal(server.sockets.open(), 0);
    await server.isWell();
  });
});

/** Messages that are answered with an error; the socket stays open. */
const MESSAGES: Readonly<Record<string, string>> = {
  "no JSON": "{",
  "a list": "[]",
  nothing: "null",
  "no type": "{}",
  "an unknown type": '{"type":"response.destroy"}',
  "a type of prototypes": '{"type":"__proto__"}',
  "1000 levels": `{"type":"response.create","input":${"[".repeat(1000)}${"]".repeat(1000)}}`,
  "a stream without a name": '{"type":"response.create","stream_id":"","input":"x"}',
  "a stream with a long name": `{"type":"response.create","stream_id":"${"s".repeat(1000)}"}`,
  "no input": '{"type":"response.create"}',
  "an unknown past": '{"type":"response.create","input":"x","previous_response_id":"resp_1"}',
  "metadata that is too long": `{"type":"response.create","input":"x","metadata":{"k":"${"v".repeat(600)}"}}`,
  "an injection into nothing": '{"type":"response.inject","response_id":"","input":[]}',
  "steering nothing": '{"type":"response.steer","previous_response_id":"","input":"x"}',
};

describe("messages that attack", () => {
  it("are answered with an error, and the socket continues", async (t) => {
    const server = await start(t);
    const socket = await server.connect();
    for (const [name, text] of Object.entries(MESSAGES)) {
      socket.send(text);
      const event = await socket.next();
      assert.equal(event.type, "error", name);
      assert.deepEqual(Object.keys(event.error ?? {}).sort(), ["code", "message", "param", "type"]);
      assert.ok((event.status ?? 0) >= 400, name);
    }
    socket.raw.send(Buffer.from([1, 2, 3]));
    assert.equal((await socket.next()).error?.code, "invalid_request");
    assert.equal((await socket.turn({ input: "Hi" })).at(-1)?.type, "response.completed");
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  it("reach no other connection's responses", async (t) => {
    const server = await start(t);
    const mine = await server.connect();
    const theirs = await server.connect();
    const events = await mine.turn({ input: "Hi", store: false });
    const id = events.at(-1)?.response?.id ?? "";
    theirs.send({ type: "response.inject", response_id: id, input: [] });
    assert.equal((await theirs.next()).error?.code, "response_not_found");
    theirs.send({ type: "response.steer", previous_response_id: id, input: "x" });
    assert.equal((await theirs.next()).error?.code, "response_not_found");
    const told = await theirs.turn({ input: "Go on", previous_response_id: id, store: false });
    assert.equal(told.at(-1)?.error?.code, "previous_response_not_found");
  });

  it("are refused from the moment at which the key is", async (t) => {
    const server = await start(t);
    const { key, token } = await server.bench.makeKey();
    const socket = await connectSocket(server.url, { authorization: `Bearer ${token}` });
    assert.equal((await socket.turn({ input: "Hi" })).at(-1)?.type, "response.completed");
    await revokeKey(server.bench, key.id);
    server.bench.clock.advance(5000);
    const [refused] = await socket.turn({ input: "Hi" });
    assert.deepEqual([refused?.status, refused?.error?.code], [401, "invalid_api_key"]);
    await server.isWell();
  });

  it("are refused if too many wait, and if there are too many streams", async (t) => {
    const server = await start(t, { maxRunning: 1, maxStreams: 4, maxWaiting: 4 });
    const socket = await server.connect();
    for (let at = 0; at < 40; at++) {
      socket.send({ type: "response.create", input: "x", stream_id: `s${at}`, store: false });
    }
    const codes = new Set<string | undefined>();
    for (let ended = 0; ended < 40; ) {
      const { type, error } = await socket.next();
      if (type === "error" || type === "response.completed") ended++;
      if (type === "error") codes.add(error?.code);
    }
    assert.ok(codes.size > 0);
    for (const code of codes) {
      assert.match(String(code), /^(rate_limit_exceeded|websocket_stream_limit_reached)$/);
    }
    await server.isWell();
  });
});

/** Bytes on an open socket, and the code with which it is closed; undefined if it is just cut. */
const FRAMES: Readonly<Record<string, readonly [Buffer, number | undefined]>> = {
  "no UTF-8": [toFrame(1, Buffer.from([0xff, 0xfe])), 1007],
  "half a character": [toFrame(1, Buffer.from([0xe2, 0x82])), 1007],
  "no mask": [Buffer.from([0x81, 0x01, 0x41]), 1002],
  "reserved bits": [Buffer.from([0xf1, 0x80, 0, 0, 0, 0]), 1002],
  "an unknown kind": [toFrame(3, Buffer.from("x")), 1002],
  "a piece of nothing": [toFrame(0, Buffer.from("x")), 1002],
  "a ping of 126 bytes": [toFrame(9, Buffer.alloc(126)), 1002],
  "a length of 2^63": [Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), 1009],
  "a length of 100 MB": [Buffer.from([0x81, 0xff, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]), 1009],
  "pieces of 100 MB together": [Buffer.concat(toPieces(2000, Buffer.alloc(60_000, "x"))), 1009],
  "20,000 pieces of a byte": [Buffer.concat(toPieces(20_000, Buffer.from("x"))), 1008],
};

describe("frames that attack", () => {
  it("close only their own socket, with the right code", async (t) => {
    const server = await start(t);
    const bystander = await server.connect();
    for (const [name, [bytes, code]] of Object.entries(FRAMES)) {
      assert.equal(await sayFrames(server, bytes), code, name);
    }
    assert.equal((await bystander.turn({ input: "Hi" })).at(-1)?.type, "response.completed");
    await server.isWell();
  });

  it("disconnect a client that causes errors and reads none of them", async (t) => {
    const server = await start(t, { maxBufferedBytes: 10_000 });
    const socket = await openRaw(server);
    socket.pause();
    const flood = Buffer.concat(Array(1000).fill(toFrame(1, Buffer.from("{"))) as Buffer[]);
    // Not `once`, which rejects for the reset that will come.
    const closed = new Promise((resolve) => {
      socket.on("close", resolve);
    });
    const write = (): void => {
      for (let more = true; more && !socket.destroyed; ) more = socket.write(flood);
    };
    socket.on("drain", write);
    write();
    await closed;
    await server.isWell();
  });
});

/** A frame in the form of clients: masked, here with zeros. */
function toFrame(opcode: number, payload: Buffer, isLast = true): Buffer {
  const first = (isLast ? 0x80 : 0) | opcode;
  const mask = Buffer.alloc(4);
  if (payload.length < 126)
    return Buffer.concat([Buffer.from([first, 0x80 | payload.length]), mask, payload]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(payload.length);
  return Buffer.concat([Buffer.from([first, 0x80 | 126]), length, mask, payload]);
}

function toPieces(count: number, payload: Buffer): Buffer[] {
  return Array.from({ length: count }, (_, at) => toFrame(at === 0 ? 1 : 0, payload, false));
}

async function openRaw({ url, token }: Attacked): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(toHandshake({ authorization: `Bearer ${token}` }));
  await once(socket, "data");
  return socket;
}

/** The code of the close frame. */
async function sayFrames(server: Attacked, bytes: Buffer): Promise<number | undefined> {
  const socket = await openRaw(server);
  let said = Buffer.alloc(0);
  socket.on("data", (piece: Buffer) => {
    said = Buffer.concat([said, piece]);
    // It waits for ours, as the protocol requires.
    if (said[0] === 0x88) socket.end(toFrame(8, Buffer.from([3, 232])));
  });
  const closed = once(socket, "close");
  socket.write(bytes);
  await closed;
  return said[0] === 0x88 ? said.readUInt16BE(2) : undefined;
}
