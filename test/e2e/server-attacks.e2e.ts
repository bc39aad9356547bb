/**
 * `offshoot serve` under attack, as a process with real sockets: floods, slow clients, web pages, secrets.
 * After each attack the server answers a plain request, and its memory is within its limit.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { request as sendRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { whenClosed } from "../closing.ts";
import { until } from "../patience.ts";
import { type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

/** In no known form, so that only a search for this text finds it. */
const KEY = "Grm7pQ2vXw9sKd4zLr8t";
const VENDOR = "Vq7hTz3nWc5yBd9x";
const MB = 1_000_000;

function dial({ url }: Served): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  // The attacker is disconnected in the end.
  socket.on("error", () => {});
  return socket;
}

async function memoryOf({ ask }: Served): Promise<number> {
  const metrics = String((await ask("GET", "/metrics")).body);
  return Number(/^offshoot_resident_memory_bytes\{[^}]*\} (\S+)$/m.exec(metrics)?.[1]);
}

async function isWell(served: Served): Promise<void> {
  const answer = await served.create({ input: "Are you well?", model: "embedded/offline" });
  assert.equal(answer.status, "completed");
}

/** Writes as fast as it is read, until everything is written or the connection is gone. */
async function pour(socket: Socket, piece: Buffer, times: number): Promise<void> {
  let isGone = false;
  const gone = new Promise<void>((resolve) => {
    socket.once("close", () => {
      isGone = true;
      resolve();
    });
  });
  for (let at = 0; at < times && !isGone; at++) {
    if (socket.write(piece)) continue;
    await Promise.race([gone, once(socket, "drain").catch(() => {})]);
  }
}

/** A request that a page's script could send, with any host and origin. */
function sendAs(
  { url }: Served,
  headers: Readonly<Record<string, string>>,
  method = "POST",
): Promise<number> {
  const { hostname, port } = new URL(url);
  const path = "/v1/responses";
  return new Promise((resolve, reject) => {
    const request = sendRequest({ hostname, port, path, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", reject);
    request.end(method === "POST" ? '{"input":"x"}' : undefined);
  });
}

describe("floods", { concurrency: 2 }, () => {
  it("of tiny chunks cost only their size", async () => {
    await using served = await serve({ env: { OFFSHOOT_SERVER_BODY_SECONDS: "600" } });
    await isWell(served);
    const before = await memoryOf(served);
    const socket = dial(served);
    socket.resume();
    socket.write(
      "POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    await pour(socket, Buffer.from("1\r\nx\r\n".repeat(20_000)), 60);
    const grown = (await memoryOf(served)) - before;
    assert.ok(grown < 150 * MB, `${Math.round(grown / MB)} MB for a body of 1.2 MB`);
    socket.destroy();
    await isWell(served);
  });

  it("without an end are cut off at the limit", async () => {
    await using served = await serve({ env: { OFFSHOOT_SERVER_MAX_BODY_BYTES: "1000000" } });
    const socket = dial(served);
    let answer = "";
    socket.on("data", (piece) => {
      answer += String(piece);
    });
    socket.write(
      "POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    const piece = Buffer.from(`fff0\r\n${"x".repeat(0xfff0)}\r\n`);
    await pour(socket, piece, Number.POSITIVE_INFINITY);
    // The system drops the answer if it closes a connection on which more is still coming.
    assert.match(answer, /^(HTTP\/1\.1 413 |$)/);
    await isWell(served);
  });

  it("of 1,000 WebSockets leave room for others", async () => {
    await using served = await serve();
    await isWell(served);
    const before = await memoryOf(served);
    const address = `${served.url.replace("http", "ws")}/v1/responses`;
    const sockets = Array.from({ length: 1000 }, () => new WebSocket(address));
    await Promise.all(sockets.map((socket) => once(socket, "open")));
    for (const socket of sockets) socket.send("{");
    await Promise.all(sockets.map((socket) => once(socket, "message")));
    const each = ((await memoryOf(served)) - before) / 1000;
    assert.ok(each < 100_000, `${Math.round(each / 1000)} KB for each`);
    await isWell(served);
    for (const socket of sockets) socket.terminate();
    await isWell(served);
  });

  it("of silent connections leave room for others", async () => {
    const env = { OFFSHOOT_SERVER_HEADERS_SECONDS: "1" };
    await using served = await serve({ env });
    const sockets = Array.from({ length: 500 }, () => dial(served));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    // Listened for from now on: their second may be over before the server has answered any request.
    const closed = sockets.filter((_, at) => at % 2 === 0).map(whenClosed);
    for (const [at, socket] of sockets.entries()) {
      socket.resume();
      socket.write(at % 2 === 0 ? "POST /v1/responses HTTP/1.1\r\nho" : "");
    }
    await isWell(served);
    await Promise.all(closed);
    await isWell(served);
    for (const socket of sockets) socket.destroy();
  });
});

describe("clients that do not read", { concurrency: 2 }, () => {
  it("slow only themselves, and are not written for", async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: slowModel(upstream) });
    const body = JSON.stringify({ input: "Talk", stream: true, store: false });
    const head = `POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}`;
    const sockets = Array.from({ length: 20 }, () => dial(served).pause());
    for (const socket of sockets) socket.write(`${head}\r\n\r\n${body}`);
    await until(async () => (upstream.open === 20 ? true : undefined), "20 streams");
    const before = await memoryOf(served);
    for (let at = 0; at < 20; at++) {
      upstream.say("x".repeat(50_000));
      assert.equal((await served.ask("GET", "/v1/models")).status, 200);
    }
    const grown = (await memoryOf(served)) - before;
    assert.ok(grown < 200 * MB, `${Math.round(grown / MB)} MB`);
    for (const socket of sockets) socket.destroy();
    await until(async () => (upstream.open === 0 ? true : undefined), "their models are let go");
    upstream.finish();
    await isWell(served);
  });
});

/** What pages and names of other sites can send, without a key or with the right one. */
const PAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "a name that was pointed here": { host: "evil.example" },
  "a name that ends as ours": { host: "127.0.0.1.evil.example" },
  "a page of another origin": { origin: "https://evil.example" },
  "a page in a frame without an origin": { origin: "null" },
  "a page of another port": { origin: "http://127.0.0.1:1" },
  "a form": { "sec-fetch-site": "cross-site", "content-type": "text/plain" },
  "a form of the same machine": { "sec-fetch-site": "same-site", "content-type": "text/plain" },
};

describe("pages", () => {
  it("cannot use the server, with or without keys", async () => {
    for (const key of [undefined, KEY]) {
      await using served = await serve(key === undefined ? {} : { key });
      const shown: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
      for (const [name, headers] of Object.entries(PAGES)) {
        assert.equal(await sendAs(served, { ...shown, ...headers }), 403, name);
        assert.equal(await sendAs(served, headers, "OPTIONS"), 403, name);
      }
      await isWell(served);
    }
  });
});

describe("secrets", () => {
  it("are in no log, no metric, no answer and no record", async () => {
    const env = { OFFSHOOT_LOG: "debug", OPENAI_API_KEY: VENDOR };
    const args = ["-m", "embedded/offline"];
    await using served = await serve({ key: KEY, env, args });
    const header = "Jx4mRb8vQt2kPz6s";
    const tool = {
      type: "mcp",
      server_label: "a",
      server_url: "http://127.0.0.1:9/mcp",
      authorization: `${header}A`,
      headers: { "x-own": `${header}B` },
    };
    const said = "Hyacinth Obelisk Quartz";
    const texts: string[] = [];
    const ask = async (...asked: Parameters<Served["ask"]>): Promise<void> => {
      texts.push(JSON.stringify((await served.ask(...asked)).body));
    };
    await ask("POST", "/v1/responses", { input: `${said} 1`, store: false });
    await ask("POST", "/v1/responses", { input: `${said} 2`, store: false, tools: [tool] });
    await ask("POST", "/v1/responses", { input: "Hi", tools: [tool] });
    await ask("POST", "/v1/responses", { input: "Hi", background: true, tools: [tool] });
    await ask("POST", "/v1/responses", { input: `${said} 3`, max_output_tokens: -1 });
    await ask("POST", "/v1/chat/completions", {
      model: "embedded/offline",
      messages: [{ role: "user", content: said }],
    });
    await ask("GET", `/v1/files?api_key=${KEY}`);
    await ask("GET", "/metrics");
    const wrong = { authorization: `Bearer ${KEY}x` };
    texts.push(await (await fetch(`${served.url}/v1/files`, { headers: wrong })).text());
    await isWell(served);
    served.command.child.kill("SIGTERM");
    const { stderr, stdout } = await served.command.ended;
    const record = await served.readStored();
    const secrets = {
      "the server's key": KEY,
      "a tool's header": header,
      "a vendor's key": VENDOR,
    };
    for (const [where, text] of Object.entries({ stderr, stdout, record, answers: texts.join() })) {
      for (const [what, secret] of Object.entries(secrets)) {
        assert.ok(!text.includes(secret), `${what} is in ${where}`);
      }
    }
    // Data that is not stored is nowhere; stored data is only in the record.
    assert.ok(!record.includes(said) && !stderr.includes(said), "a prompt was kept");
    assert.ok(record.includes("Are you well?") && !stderr.includes("Are you well?"));
  });

  it("are not revealed by errors: near misses read like any unknown key", async () => {
    await using served = await serve({ key: KEY });
    const tokens = [
      KEY.slice(0, -1),
      `${KEY}x`,
      "x",
      `osk_${"0".repeat(12)}_${"0".repeat(64)}`,
      "x".repeat(5000),
    ];
    const answers = await Promise.all(
      tokens.map(async (token) => {
        const headers = { authorization: `Bearer ${token}` };
        const answer = await fetch(`${served.url}/v1/models`, { headers });
        return `${answer.status} ${await answer.text()}`;
      }),
    );
    assert.equal(new Set(answers).size, 1, answers.join("\n"));
    assert.match(answers[0] ?? "", /^401 /);
  });
});
