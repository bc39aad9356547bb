/**
 * A load of one request after the other on each of some connections, over bare sockets, so that its own cost does not
 * limit what it measures.
 */

import { connect, type Socket } from "node:net";

export interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly requests: number;
}

export interface LoadResult {
  /** The median of all requests, in milliseconds. */
  readonly medianMs: number;
  /** All requests together. */
  readonly tookMs: number;
  readonly bytes: number;
}

export async function runLoad(load: Load): Promise<LoadResult> {
  const { connections, requests } = load;
  const request = toRequest(load);
  const times: number[] = [];
  const beganMs = performance.now();
  let left = requests;
  let bytes = 0;
  const work = async (): Promise<void> => {
    const socket = await open(load.port);
    while (left-- > 0) {
      const startMs = performance.now();
      const { length } = await ask(socket, request);
      bytes += length;
      times.push(performance.now() - startMs);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, work));
  times.sort((a, b) => a - b);
  const tookMs = performance.now() - beganMs;
  return { medianMs: times[Math.floor(times.length / 2)] ?? 0, tookMs, bytes };
}

/** Asks one after the other over one connection, each body made from the answer before it. */
export async function runInTurn(
  load: Omit<Load, "body" | "connections">,
  toBody: (answer: string) => string,
): Promise<string> {
  const socket = await open(load.port);
  let answer = "";
  for (let at = 0; at < load.requests; at++) {
    answer = await ask(socket, toRequest({ ...load, body: toBody(answer), connections: 1 }));
  }
  socket.destroy();
  return answer;
}

/** How long one GET takes, over an open connection. */
export async function openProbe(port: number, path: string): Promise<Probe> {
  const socket = await open(port);
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`;
  return {
    async ask() {
      const startMs = performance.now();
      await ask(socket, request);
      return performance.now() - startMs;
    },
    close: () => socket.destroy(),
  };
}

export interface Probe {
  ask(): Promise<number>;
  close(): void;
}

/** Opens streams and leaves them open after their first bytes. */
export async function holdStreams(load: Load): Promise<readonly Socket[]> {
  const request = toRequest(load);
  const sockets: Socket[] = [];
  for (let at = 0; at < load.connections; at++) {
    const socket = await open(load.port);
    await new Promise<void>((resolve) => {
      let text = "";
      socket.on("data", (piece) => {
        text += piece.toString("latin1");
        if (/\n\n[\s\S]*delta/.test(text) || text.length > 4096) resolve();
      });
      socket.write(request);
    });
    sockets.push(socket);
  }
  return sockets;
}

function toRequest({ path, headers, body, port }: Load): string {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.setNoDelay(true);
    socket.on("error", reject);
  });
}

/** One whole answer: by its length, or to the end of its last chunk. Rejects an answer that reports a failure. */
function ask(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const answer = createAnswer();
    const onClose = (): void => reject(new Error("The connection was closed."));
    const onData = (piece: Buffer): void => {
      if (!answer.read(piece)) return;
      socket.off("data", onData);
      socket.off("close", onClose);
      const text = answer.text();
      if (text.startsWith("HTTP/1.1 200") && !FAILED.test(text.slice(-END_CHARS))) resolve(text);
      else reject(new Error(text.slice(0, 600)));
    };
    socket.on("data", onData);
    socket.once("close", onClose);
    socket.write(request);
  });
}

/** A stream that fails in this way still has status 200. Only its last event is searched. */
const FAILED = /event: (response\.failed|error)\n/;
const END_CHARS = 20_000;

interface Answer {
  /** What was read. */
  text(): string;
  /** True when the answer is whole. */
  read(piece: Buffer): boolean;
}

function createAnswer(): Answer {
  const pieces: string[] = [];
  let head = "";
  let length: number | undefined;
  let seen = 0;
  let tail = "";
  return {
    text: () => pieces.join(""),
    read(piece) {
      seen += piece.length;
      const text = piece.toString("latin1");
      pieces.push(text);
      if (length === undefined) head += text;
      length ??= lengthIn(head);
      tail = (tail + text).slice(-5);
      return length !== undefined && (seen >= length || tail === "0\r\n\r\n");
    },
  };
}

/** The length of the whole answer; undefined before its headers are there, infinite if they do not say. */
function lengthIn(head: string): number | undefined {
  const end = head.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const found = /content-length: (\d+)/i.exec(head);
  return found ? end + 4 + Number(found[1]) : Number.POSITIVE_INFINITY;
}
