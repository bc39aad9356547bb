/**
 * Shared by the tests of streams: a model that says what it is told to, and a client on a bare socket.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { type Reply, reply, type ScriptEngine, script } from "../../src/testing/index.ts";
import { replyEvents } from "../../src/testing/reply-events.ts";

type Said = Extract<Reply, { kind: "answer" }>;

export interface GatedModel {
  readonly engine: ScriptEngine;
  /** How many pieces it has been asked for, over all answers. */
  readonly given: number;
  /** Lets so many more pieces through. */
  allow(pieces: number): void;
  /** Resolves when it has been asked for so many pieces. */
  waitForGiven(pieces: number): Promise<void>;
}

/** Says as many pieces as it is allowed to; everything when it is told `Infinity`. */
export function createGatedModel(choose: (request: ModelRequest) => Said): GatedModel {
  const { makeId } = script();
  let free = 0;
  let given = 0;
  let wakes: (() => void)[] = [];
  const wake = (): void => {
    const sleeping = wakes;
    wakes = [];
    for (const one of sleeping) one();
  };
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise<void>((resolve) => wakes.push(resolve));
  };
  return {
    get given() {
      return given;
    },
    allow(pieces) {
      free += pieces;
      wake();
    },
    waitForGiven: (pieces) => until(() => given >= pieces),
    async *engine(request, { signal }) {
      signal.addEventListener("abort", wake);
      for await (const batch of replyEvents(choose(request), request, { signal, makeId })) {
        await until(() => free > 0 || signal.aborted);
        free--;
        given++;
        wake();
        yield batch;
      }
    },
  };
}

/** The pieces of an answer's beginning: what comes before its text. */
export const BEGINNING = 2;

export function sayAtLength(characters: number): Said {
  return reply.text("0123456789abcdef".repeat(characters / 16), { pieceLength: 8192 });
}

export interface BareClient {
  /** Everything that was received, as text. */
  readonly text: string;
  readonly socket: Socket;
  /** Resolves when the text so far fits; rejects when the connection ends before. */
  until(fits: (text: string) => boolean): Promise<string>;
  /** Reads to the end of the connection. */
  rest(): Promise<string>;
}

/** Sends the lines as they are. It reads only when it is asked to. */
export async function openBareClient(
  t: TestContext,
  url: string,
  lines: readonly string[],
): Promise<BareClient> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  t.after(() => socket.destroy());
  await once(socket, "connect");
  const [head = "", ...rest] = lines;
  socket.setEncoding("utf8").write([head, `Host: ${host}`, ...rest].join("\r\n"));
  let text = "";
  let isOver = false;
  let tell = (): void => {};
  socket.on("end", () => {
    isOver = true;
    tell();
  });
  const until = async (fits: () => boolean): Promise<string> => {
    socket.on("data", (piece: string) => {
      text += piece;
      tell();
    });
    socket.resume();
    while (!fits()) {
      if (isOver) assert.fail(`ended with:\n${text.slice(-500)}`);
      await new Promise<void>((resolve) => {
        tell = resolve;
      });
    }
    socket.removeAllListeners("data").pause();
    return text;
  };
  return {
    get text() {
      return text;
    },
    socket,
    until: (fits) => until(() => fits(text)),
    rest: () => until(() => isOver),
  };
}

export function toPost(path: string, body: object, version = "1.1"): string[] {
  const text = JSON.stringify(body);
  const length = `Content-Length: ${Buffer.byteLength(text)}`;
  return [`POST ${path} HTTP/${version}`, length, "", text];
}
