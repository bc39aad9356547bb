/** A whole server with keys, under attack: the requests, the answers, and whether it stays healthy. */

import assert from "node:assert/strict";
import { connect } from "node:net";
import type { TestContext } from "node:test";
import { reply, respond, type Script, type ScriptEngine } from "../../src/testing/index.ts";
import { whenClosed } from "../closing.ts";
import {
  createGuardBench,
  errorOf,
  type GuardBench,
  type Received,
  type Sent,
  startGuarded,
} from "../server/guard/guard-fixture.ts";
import type { ServerSetup, TestServer } from "../server/server-fixture.ts";

export interface AttackedServer extends TestServer {
  readonly bench: GuardBench;
  /** The token of a key that may do everything except read metrics. */
  readonly token: string;
  /** Sends with the key, unless another is given. */
  readonly send: (asked: Sent) => Promise<Received>;
  /** Fails unless a plain request is answered, and nothing of an attack has stayed in the process. */
  isWell(): Promise<void>;
}

export const HELLO: ScriptEngine | Script = respond(() => reply.text("Hello."));

export async function startAttacked(
  t: TestContext,
  engine: ScriptEngine | Script = HELLO,
  setup: ServerSetup = {},
): Promise<AttackedServer> {
  const bench = createGuardBench();
  const server = await startGuarded(t, bench, engine, setup);
  const { token } = await bench.makeKey();
  const send = (asked: Sent): Promise<Received> => server.send({ token, ...asked });
  return {
    ...server,
    bench,
    token,
    send,
    async isWell() {
      const { status, text } = await send({ body: { input: "Are you well?", store: false } });
      assert.equal(status, 200, text);
      assert.deepEqual(Object.keys(Object.prototype), []);
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    },
  };
}

/** The expected answer; missing fields do not matter. */
export interface Refusal {
  readonly status: number;
  readonly code?: string | undefined;
  readonly param?: string | null | undefined;
  readonly message?: RegExp | undefined;
}

/** In the API's form, with the right status, and without any internal detail. */
export function assertRefused(answer: Received, wanted: Refusal, name: string): void {
  const told = `${name}: ${answer.status} ${answer.text.slice(0, 300)}`;
  assert.equal(answer.status, wanted.status, told);
  const error = errorOf(answer);
  if (wanted.code !== undefined) assert.equal(error.code, wanted.code, told);
  if (wanted.param !== undefined) assert.equal(error.param, wanted.param, told);
  if (wanted.message) assert.match(error.message, wanted.message, told);
  assert.equal(answer.headers["content-type"], "application/json", told);
  assert.doesNotMatch(
    answer.text,
    /\bat .*\.(js|ts):\d|node_modules|SQLITE|internal\/|ENOENT/,
    told,
  );
  assert.ok(answer.text.length < 20_000, `${name}: an error of ${answer.text.length} characters`);
}

export function idOf({ status, text }: Received): string {
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { id: string }).id;
}

/** A form with a file, part by part, as bytes. */
export function toForm(parts: readonly string[], boundary = "cut"): string {
  const lines = parts.map((part) => `--${boundary}\r\ncontent-disposition: form-data; ${part}\r\n`);
  return `${lines.join("")}--${boundary}--\r\n`;
}

export const FORM = { "content-type": "multipart/form-data; boundary=cut" };
export const PURPOSE = 'name="purpose"\r\n\r\nuser_data';

export function filePart(filename: string, text = "x"): string {
  return `name="file"; filename="${filename}"\r\n\r\n${text}`;
}

export async function uploadFile(
  send: AttackedServer["send"],
  text: string,
  filename = "notes.txt",
): Promise<string> {
  const body = toForm([PURPOSE, filePart(filename, text)]);
  return idOf(await send({ path: "/v1/files", headers: FORM, body }));
}

/** Sends raw bytes, one for each character, and returns everything until the server closes the connection. */
export async function sayRaw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (piece: string) => {
    answer += piece;
  });
  // If the server stops reading, the connection is reset; the answer came before.
  socket.on("error", () => {});
  socket.write(text, "latin1");
  await whenClosed(socket);
  return answer;
}
