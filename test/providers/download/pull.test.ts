import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { DownloadProgress } from "../../../src/providers/download/download.ts";
import { type Pull, type PulledModel, pullModel } from "../../../src/providers/download/pull.ts";
import { PULL_TABLE } from "../../../src/providers/download/pull-table.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import { patience } from "../../patience.ts";

const MODEL = Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(300_000, "weights ")]);
const OTHER = Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(300_000, "changed ")]);
const SHA256 = createHash("sha256").update(MODEL).digest("hex");

const transport = createTransport({});
const directory = await mkdtemp(join(tmpdir(), "offshoot-pull-"));
const servers: Server[] = [];
let folders = 0;

after(async () => {
  await transport.close();
  for (const server of servers) server.close().closeAllConnections();
  await rm(directory, { recursive: true });
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers the n-th request (from 0) with the n-th handler, and all later ones with the last. */
async function serve(...handlers: Handler[]): Promise<{ url: string; ranges: string[] }> {
  const ranges: string[] = [];
  const server = createServer((request, response) => {
    const handler = handlers[Math.min(ranges.length, handlers.length - 1)];
    ranges.push(request.headers.range ?? "all");
    handler?.(request, response);
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tiny.gguf`, ranges };
}

/** A server that supports ranges, and `If-Range` unless it is `heedless`. */
const whole =
  (body: Buffer, etag = '"one"', heedless?: "heedless"): Handler =>
  (request, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? Number.NaN);
    const isSame = heedless !== undefined || request.headers["if-range"] === etag;
    response.setHeader("etag", etag);
    if (Number.isNaN(start) || !isSame) {
      return void response.setHeader("content-length", body.length).end(body);
    }
    response.writeHead(206, {
      "content-length": body.length - start,
      "content-range": `bytes ${start}-${body.length - 1}/${body.length}`,
    });
    response.end(body.subarray(start));
  };

/** Promises the whole file, and drops the connection after some bytes. */
const cut =
  (bytes: number, headers: Record<string, string> = { etag: '"one"' }): Handler =>
  (_request, response) => {
    response.writeHead(200, { "content-length": MODEL.length, ...headers });
    response.write(MODEL.subarray(0, bytes), () => response.destroy());
  };

/** A clock that does not wait and advances by a second at each reading. */
function quickClock(): Pull["clock"] {
  let now = 0;
  return { now: () => (now += 1000), sleep: async () => {} };
}

const pull = (target: string, more: Partial<Pull> = {}): Promise<PulledModel> =>
  pullModel({
    transport,
    clock: quickClock(),
    random: () => 0,
    signal: patience(),
    directory: join(directory, `${folders++}`),
    sha256: undefined,
    target,
    ...more,
  });

describe("pullModel", () => {
  it("fetches a file by URL under its own name, and leaves no other file", async () => {
    const { url } = await serve(whole(MODEL));
    const { path, name, ...rest } = await pull(url, { sha256: SHA256.toUpperCase() });
    assert.equal(name, "tiny");
    assert.deepEqual(rest, {
      bytes: MODEL.length,
      sha256: SHA256,
      isVerified: true,
      isOld: false,
    });
    assert.deepEqual(await readFile(path), MODEL);
    assert.deepEqual(await readdir(join(path, "..")), ["tiny.gguf"]);
  });

  it("resumes where the connection was lost", async () => {
    const { url, ranges } = await serve(cut(100_000), whole(MODEL));
    const retries: string[] = [];
    const { path } = await pull(url, { onRetry: ({ code }) => void retries.push(code) });
    assert.deepEqual(await readFile(path), MODEL);
    assert.deepEqual(ranges, ["all", "bytes=100000-"]);
    assert.deepEqual(retries, ["provider_unreachable"]);
  });

  it("gives up after five retries, and the next call resumes", async () => {
    const { url, ranges } = await serve(...Array<Handler>(6).fill(cut(50_000)), whole(MODEL));
    const folder = join(directory, "again");
    await assert.rejects(pull(url, { directory: folder }), { code: "provider_unreachable" });
    assert.equal(ranges.length, 6);
    assert.deepEqual((await readdir(folder)).sort(), ["tiny.gguf.part", "tiny.gguf.part.json"]);
    const { path } = await pull(url, { directory: folder });
    assert.deepEqual(await readFile(path), MODEL);
    assert.equal(ranges[6], "bytes=50000-");
  });

  it("starts over if the file has changed, even without `If-Range`", async () => {
    for (const changed of [whole(OTHER, '"two"'), whole(OTHER, '"two"', "heedless")]) {
      const { url } = await serve(cut(100_000), changed);
      assert.deepEqual(await readFile((await pull(url)).path), OTHER);
    }
  });

  it("starts over with a server that ignores ranges, and with one that gives no tag", async () => {
    const plain: Handler = (_request, response) => void response.end(MODEL);
    const first = await serve(cut(100_000), plain);
    assert.deepEqual(await readFile((await pull(first.url)).path), MODEL);
    for (const tag of [{}, { etag: 'W/"one"' }]) {
      const second = await serve(cut(100_000, tag), plain);
      assert.deepEqual(await readFile((await pull(second.url)).path), MODEL);
      assert.deepEqual(second.ranges, ["all", "all"]);
    }
  });

  it("does not resume a part from another URL", async () => {
    const gone: Handler = (_request, response) => void response.writeHead(404).end();
    const first = await serve(cut(100_000), gone);
    const second = await serve(whole(OTHER));
    const folder = join(directory, "elsewhere");
    await assert.rejects(pull(first.url, { directory: folder }), { code: "not_found" });
    const { path } = await pull(second.url, { directory: folder });
    assert.deepEqual(await readFile(path), OTHER);
    assert.deepEqual(second.ranges, ["all"]);
  });

  it("starts over if the server does not have the range", async () => {
    const none: Handler = (_request, response) => void response.writeHead(416).end();
    const { url, ranges } = await serve(cut(100_000), none, whole(MODEL));
    assert.deepEqual(await readFile((await pull(url)).path), MODEL);
    assert.deepEqual(ranges, ["all", "bytes=100000-", "all"]);
  });

  it("removes a file whose checksum is wrong", async () => {
    const { url } = await serve(whole(OTHER));
    const folder = join(directory, "wrong");
    await assert.rejects(pull(`${url}#sha256=${SHA256}`, { directory: folder }), {
      code: "provider_broke_protocol",
      message: /its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}\. It was removed/,
    });
    assert.deepEqual(await readdir(folder), []);
  });

  it("uses the checksum that a hub sends on the way to the file", async () => {
    const { url } = await serve(whole(MODEL));
    const hub = await serve((_request, response) => {
      response.writeHead(302, { location: url, "x-linked-etag": `"${SHA256}"` }).end();
    });
    assert.equal((await pull(hub.url)).isVerified, true);
    const wrong = "0".repeat(64);
    await assert.rejects(
      pull(hub.url, { sha256: wrong }),
      /has another file than the one expected/,
    );
  });

  it("does not call a file verified without a checksum", async () => {
    const { url } = await serve(whole(MODEL));
    assert.equal((await pull(url)).isVerified, false);
  });

  it("notices a page that is not a model at its first bytes", async () => {
    const { url, ranges } = await serve((_request, response) => {
      response.write("<h");
      setImmediate(() => response.write("tml>please log in"));
    });
    const folder = join(directory, "page");
    await assert.rejects(pull(url, { directory: folder }), {
      code: "provider_broke_protocol",
      message: /does not send a GGUF file \(perhaps a login page\)/,
    });
    assert.deepEqual(await readdir(folder), []);
    assert.equal(ranges.length, 1);
  });

  it("refuses a file of two bytes", async () => {
    const { url } = await serve((_request, response) => void response.end("GG"));
    await assert.rejects(pull(url), /does not send a GGUF file/);
  });

  for (const [status, code] of [
    [404, "not_found"],
    [403, "provider_unauthorized"],
    [400, "provider_rejected"],
  ] as const) {
    it(`does not retry after ${status}`, async () => {
      const { url, ranges } = await serve((_request, response) => {
        response.writeHead(status).end("no");
      });
      await assert.rejects(pull(url), { code });
      assert.equal(ranges.length, 1);
    });
  }

  it("retries after a server's own failure", async () => {
    const { url, ranges } = await serve(
      (_request, response) => void response.writeHead(503).end(),
      whole(MODEL),
    );
    assert.equal((await pull(url)).sha256, SHA256);
    assert.equal(ranges.length, 2);
  });

  it("stops a server that redirects in a circle, or away from http", async () => {
    const circle = await serve((_request, response) => {
      response.writeHead(302, { location: "/tiny.gguf" }).end();
    });
    await assert.rejects(pull(circle.url), /redirects in a circle/);
    const file = await serve((_request, response) => {
      response.writeHead(302, { location: "file:///etc/passwd" }).end();
    });
    await assert.rejects(pull(file.url), /redirects to a URL that is not https/);
  });

  it("says that the disk is full before a byte is fetched", async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { "content-length": 1e15 });
      response.write(MODEL);
    });
    await assert.rejects(pull(url), {
      code: "invalid_request",
      message: /^The disk of `.*` is full: \d+ MB more are needed\./,
    });
  });

  it("reports a path that cannot be a directory", async () => {
    const { url } = await serve(whole(MODEL));
    const file = join(directory, "file");
    await writeFile(file, "");
    await assert.rejects(pull(url, { directory: file }), { code: "invalid_request" });
  });

  it("reports progress, with resumed bytes, which do not count as speed", async () => {
    const { url } = await serve(cut(100_000), whole(MODEL));
    const seen: DownloadProgress[] = [];
    await pull(url, { onProgress: (progress) => void seen.push(progress) });
    const last = seen.at(-1);
    assert.deepEqual([last?.bytes, last?.totalBytes], [MODEL.length, MODEL.length]);
    assert.equal(last?.bytesPerSecond, MODEL.length / seen.length);
    assert.ok(seen.every(({ bytes }, index) => bytes > (seen[index - 1]?.bytes ?? 0)));
  });

  it("keeps what it has when it is cancelled", async () => {
    const stop = new AbortController();
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { "content-length": MODEL.length, etag: '"one"' });
      response.write(MODEL.subarray(0, 100_000));
    });
    const folder = join(directory, "cancelled");
    const onProgress = ({ bytes }: DownloadProgress): void => {
      if (bytes === 100_000) stop.abort();
    };
    await assert.rejects(pull(url, { directory: folder, signal: stop.signal, onProgress }), {
      code: "cancelled",
    });
    assert.equal((await readFile(join(folder, "tiny.gguf.part"))).length, 100_000);
  });

  it("fetches nothing that exists already, and changes no other file of that name", async () => {
    const { url, ranges } = await serve(whole(MODEL));
    const { path } = await pull(url);
    const folder = join(path, "..");
    assert.equal((await pull(url, { directory: folder })).isOld, true);
    assert.equal(ranges.length, 1);
    await writeFile(path, "something of the user's");
    await assert.rejects(pull(url, { directory: folder, sha256: SHA256 }), { code: "conflict" });
    assert.equal(await readFile(path, "utf8"), "something of the user's");
  });

  it("guesses a mistyped name and lists the others", async () => {
    await assert.rejects(pull("qwen3-0.6"), {
      code: "not_found",
      message: /Did you mean `qwen3-0.6b`\? Names: smollm2-360m, .*; or the URL of a GGUF file\.$/,
    });
  });

  it("refuses a URL without a file, an invalid checksum, and names that lead upwards", async () => {
    await assert.rejects(pull("https://127.0.0.1/"), /names no file/);
    await assert.rejects(pull("https://127.0.0.1/..%2F"), /names no file/);
    await assert.rejects(pull("qwen3-4b", { sha256: "abc" }), /is not a SHA-256 checksum/);
  });
});

describe("the table of models to pull", () => {
  for (const [name, { url, bytes, sha256 }] of Object.entries(PULL_TABLE)) {
    it(`has a complete row for ${name}`, () => {
      assert.match(new URL(url).pathname, /\.gguf$/);
      assert.match(sha256, /^[0-9a-f]{64}$/);
      assert.ok(bytes > 100_000_000);
    });
  }
});
