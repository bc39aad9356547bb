/**
 * Invalid requests, or two in one, written to the socket itself. Each is answered in the API's form or not
 * at all, no second request is smuggled in, and the server stays healthy.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { openListener, SOCKET_LIMITS } from "../../src/server/running/listener.ts";
import { PATIENCE_MS } from "../patience.ts";
import { type AttackedServer, sayRaw, startAttacked } from "./server-attack-fixture.ts";

const BODY = '{"input":"x"}';

/** A request that deletes an object, hidden in another one. */
const SMUGGLED = "DELETE /v1/responses/resp_1 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

interface WireRow {
  /** After the request line and the headers of every request. */
  readonly head: string;
  readonly body?: string;
  readonly line?: string;
  /** Without a status, the connection ends without an answer. */
  readonly status: number | undefined;
}

const post = (head: string, status: number, body = ""): WireRow => ({ head, body, status });
const line = (text: string, status: number | undefined): WireRow => ({
  line: text,
  head: "",
  status,
});

const ROWS: Readonly<Record<string, WireRow>> = {
  "both lengths": post(
    "content-length: 4\r\ntransfer-encoding: chunked",
    400,
    `0\r\n\r\n${SMUGGLED}`,
  ),
  "both lengths, the other way": post(
    "transfer-encoding: chunked\r\ncontent-length: 4",
    400,
    `0\r\n\r\n${SMUGGLED}`,
  ),
  "two lengths": post("content-length: 13\r\ncontent-length: 0", 400, BODY + SMUGGLED),
  "two lengths in one": post("content-length: 13, 13", 400, BODY),
  "a length below nothing": post("content-length: -1", 400, BODY),
  "a length with a sign": post("content-length: +13", 400, BODY),
  "a length with an exponent": post("content-length: 1e1", 400, BODY),
  "a length in hex": post("content-length: 0xd", 400, BODY),
  "a length of 20 digits": post("content-length: 99999999999999999999", 400, BODY),
  "a length of 10 GB": post("content-length: 9999999999", 413, BODY),
  "an unknown coding": post("transfer-encoding: xchunked", 400, `0\r\n\r\n${SMUGGLED}`),
  "chunks in the middle": post("transfer-encoding: chunked, identity", 400, `0\r\n\r\n${SMUGGLED}`),
  "chunks twice": post("transfer-encoding: chunked\r\ntransfer-encoding: identity", 400, SMUGGLED),
  "a name with a space": post("content-length : 13", 400, BODY),
  "a value on two lines": post("x: a\r\n content-length: 13", 400, BODY),
  "a NUL in a value": post("x: a\0b", 400),
  "a line without its end": post("x: a\nset-cookie: b", 400),
  "a chunk size that is not a number": post("transfer-encoding: chunked", 400, "zz\r\n"),
  "a chunk below nothing": post("transfer-encoding: chunked", 400, "-1\r\n"),
  "a chunk of 2^64": post("transfer-encoding: chunked", 400, "fffffffffffffffff\r\n"),
  "a chunk with 20 KB of remarks": post(
    "transfer-encoding: chunked",
    400,
    `1;${"a".repeat(20_000)}\r\nx`,
  ),
  "100 KB of headers": post(`x: ${"a".repeat(100_000)}`, 431),
  "20,000 headers": post("a:\r\n".repeat(20_000).trimEnd(), 431),
  "garbage after a body": post("content-length: 2", 400, "{}GARBAGE"),
  "lines with no return": line(`GET /healthz HTTP/1.1\nhost: 127.0.0.1\n\n`, 400),
  "the greeting of TLS": line("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
  "the greeting of HTTP/2": line("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
  "a version to come": line("GET /healthz HTTP/9.9\r\nhost: 127.0.0.1\r\n\r\n", 400),
  "a NUL in the path": line("GET /v1/\0 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", 400),
  "a control sequence in the path": line(
    "GET /v1/\x1b[2J HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
    400,
  ),
  "a proxy's request": line("CONNECT 10.0.0.1:80 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", undefined),
  "another server's address": line(
    "GET http://evil.example/v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
    404,
  ),
  "no host": line("GET /v1/files HTTP/1.1\r\nconnection: close\r\n\r\n", 403),
  "no host, in the old version": line("GET /v1/files HTTP/1.0\r\n\r\n", 403),
  "an empty host": line("GET /v1/files HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n", 403),
  "two hosts": line(
    "GET /v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nHost: evil.example\r\nconnection: close\r\n\r\n",
    400,
  ),
  "a body in gzip": post("content-encoding: gzip\r\ncontent-length: 13", 415, BODY),
  "a body that is called plain": post("content-encoding: identity\r\ncontent-length: 1", 400, "{"),
  "a host with a login": line(
    "GET /v1/files HTTP/1.1\r\nhost: a@127.0.0.1\r\nconnection: close\r\n\r\n",
    403,
  ),
  "a host in other letters": line(
    "GET /v1/files HTTP/1.1\r\nhost: 127.0.0.1.\u00e9\r\nconnection: close\r\n\r\n",
    403,
  ),
  "an unknown method": line("BREW / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", 400),
  "an echo of the request": line(
    "TRACE /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
    405,
  ),
};

function toText({ line: whole, head, body = "" }: WireRow, token: string): string {
  if (whole !== undefined) return whole;
  const own = `host: 127.0.0.1\r\nauthorization: Bearer ${token}`;
  return `POST /v1/responses HTTP/1.1\r\n${own}\r\n${head}\r\n\r\n${body}`;
}

/** The statuses of all answers on one connection. */
function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

function errorIn(text: string): Record<string, unknown> {
  const [, body = ""] = text.split("\r\n\r\n");
  return (JSON.parse(body) as { error: Record<string, unknown> }).error;
}

describe("an invalid request", () => {
  it("is answered once, in the API's form", async (t) => {
    const server = await startAttacked(t);
    for (const [name, row] of Object.entries(ROWS)) {
      const answer = await sayRaw(server.url, toText(row, server.token));
      const wanted = row.status === undefined ? [] : [row.status];
      assert.deepEqual(statusesOf(answer), wanted, `${name}: ${answer}`);
      if (row.status === undefined) continue;
      assert.deepEqual(Object.keys(errorIn(answer)), ["message", "type", "param", "code"], name);
      assert.doesNotMatch(answer, /^set-cookie/im, name);
    }
    assert.equal(server.upstream.requests.length, 0);
    await server.isWell();
  });

  it("does not read a body with an unknown expectation twice, and refuses none for it", async (t) => {
    const server = await startAttacked(t);
    const head = "expect: a-teapot\r\nconnection: close\r\ncontent-length: 13";
    const answer = await sayRaw(server.url, toText(post(head, 200, BODY), server.token));
    assert.deepEqual(statusesOf(answer), [200]);
  });
});

describe("many requests on one connection", () => {
  const ask = ({ token }: AttackedServer, path: string, more = ""): string =>
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n${more}\r\n`;

  it("are answered in their order, each by itself", async (t) => {
    const server = await startAttacked(t);
    const paths = Array.from({ length: 200 }, (_, at) => `/v1/responses/resp_${at}`);
    const texts = paths.map((path, at) =>
      ask(server, path, at === 199 ? "connection: close\r\n" : ""),
    );
    const answer = await sayRaw(server.url, texts.join(""));
    const told = [...answer.matchAll(/no response `resp_(\d+)`/g)].map(([, at]) => Number(at));
    assert.deepEqual(told, Array.from(paths.keys()));
    await server.isWell();
  });

  it("do not share a key: each shows its own", async (t) => {
    const server = await startAttacked(t);
    const nameless = "GET /v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
    const answer = await sayRaw(server.url, ask(server, "/v1/files") + nameless);
    assert.deepEqual(statusesOf(answer), [200, 401]);
  });
});

describe("slow clients", () => {
  const slow = { ...SOCKET_LIMITS, headersTimeoutMs: 100, requestTimeoutMs: 100 };

  it("are not waited for: heads that come byte by byte", async (t) => {
    const listener = await openListener(
      { host: "127.0.0.1", port: 0, socket: slow },
      async () => {},
    );
    t.after(() => {
      listener.destroy();
      return listener.close();
    });
    const answers = Array.from({ length: 50 }, () =>
      sayRaw(listener.url, "GET / HTTP/1.1\r\nhost: 1"),
    );
    for (const answer of await Promise.all(answers)) assert.deepEqual(statusesOf(answer), [408]);
  });

  it("are not waited for: bodies that never end", async (t) => {
    // Long enough for the body of the plain request after it.
    const body = { maxBytes: 1000, timeoutMs: 1000 };
    const server = await startAttacked(t, undefined, { server: { body } });
    const heads = ["content-length: 500", "transfer-encoding: chunked"];
    for (const head of heads) {
      const answer = await sayRaw(server.url, toText(post(head, 408, "1\r\nx"), server.token));
      assert.deepEqual(statusesOf(answer), [408], head);
      assert.equal(errorIn(answer)["code"], "slow_request");
    }
    await server.isWell();
  });

  it("are refused if their chunks are too many", async (t) => {
    const body = { maxBytes: 1000, timeoutMs: PATIENCE_MS };
    const server = await startAttacked(t, undefined, { server: { body } });
    const chunks = `${"64\r\n".concat("x".repeat(100), "\r\n").repeat(20)}0\r\n\r\n`;
    // All of it may be there before it is refused; then the server would keep the connection.
    const head = "connection: close\r\ntransfer-encoding: chunked";
    const answer = await sayRaw(server.url, toText(post(head, 413, chunks), server.token));
    assert.deepEqual(statusesOf(answer), [413]);
    await server.isWell();
  });

  it("harm nothing if they disconnect in the middle", async (t) => {
    const server = await startAttacked(t);
    const whole = toText(post("content-length: 13", 200, BODY), server.token);
    for (let length = 1; length < whole.length; length += 7) {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      // Read, so that it ends with the connection.
      socket.on("error", () => {}).resume();
      await once(socket, "connect");
      socket.write(whole.slice(0, length));
      if (length % 2) socket.resetAndDestroy();
      else socket.end();
    }
    await server.isWell();
  });
});
