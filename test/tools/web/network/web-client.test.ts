import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import * as zlib from "node:zlib";
import { systemClock } from "../../../../src/base/clock.ts";
import { createManualClock } from "../../../../src/testing/manual-clock.ts";
import { createWebClient } from "../../../../src/tools/web/network/web-client.ts";
import { asking, PUBLIC, startWeb } from "../web-servers.ts";

describe("the web client", () => {
  it("returns the answer with its final address, status, type and body", async () => {
    await using web = await startWeb({
      answer: (_, response) =>
        response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("Not here."),
    });
    const answer = await web.client.get("http://example.com/a?b=c#d", asking());
    assert.deepEqual(
      [answer.url, answer.status, answer.contentType, answer.body.toString(), answer.isCut],
      ["http://example.com/a?b=c#d", 404, "text/plain; charset=utf-8", "Not here.", false],
    );
    assert.deepEqual(web.asked, ["example.com /a?b=c"]);
    assert.deepEqual(web.dialled, [`${PUBLIC}:80`]);
    assert.equal(web.requests[0]?.headers["user-agent"], "offshoot/test");
    assert.equal(web.requests[0]?.headers.cookie, undefined);
  });

  it("connects to the checked address, and looks up no name again", async () => {
    await using web = await startWeb({ answer: (_, response) => response.end("Here.") });
    const { port = 0 } = web.parts.dial?.("", 0) ?? {};
    // A name that no system resolves: only the checked address can have led there.
    const host = `pinned.invalid:${port}`;
    const client = createWebClient({
      ...web.parts,
      dial: undefined,
      privateHosts: [host],
      resolve: async () => ["127.0.0.1"],
    });
    assert.equal((await client.get(`http://${host}/`, asking())).body.toString(), "Here.");
    assert.deepEqual(web.asked, [`${host} /`]);
  });

  it("does not read the page of a redirect", async () => {
    await using web = await startWeb({
      answer(request, response) {
        if (request.url === "/there") response.end("There.");
        else
          response.writeHead(302, { location: "/there" }).write("Moved, and there is more to say");
      },
    });
    assert.equal((await web.client.get("http://example.com/", asking())).body.toString(), "There.");
  });

  it("tries the next address if one does not answer", async () => {
    const dialled: string[] = [];
    await using web = await startWeb({
      answer: (_, response) => response.end("Here."),
      names: { "two.example": [["2606:4700::1111", PUBLIC]] },
    });
    const { dial } = web.parts;
    const client = createWebClient({
      ...web.parts,
      dial(address, port) {
        dialled.push(address);
        // Nothing listens on the discard port.
        return address === PUBLIC && dial ? dial(address, port) : { host: "127.0.0.1", port: 9 };
      },
    });
    const { body } = await client.get("http://two.example/", asking());
    assert.equal(body.toString(), "Here.");
    assert.deepEqual(dialled, ["2606:4700::1111", PUBLIC]);
  });

  it("follows five redirects, relative ones too, and keeps the fragment", async () => {
    await using web = await startWeb({
      answer(request, response) {
        const step = Number(request.url?.slice(1));
        if (step === 5) response.end("There.");
        else response.writeHead(302, { location: `${step + 1}` }).end("Moved.");
      },
    });
    const answer = await web.client.get("http://example.com/0#part", asking());
    assert.deepEqual([answer.url, answer.body.toString()], ["http://example.com/5#part", "There."]);
    assert.equal(web.dialled.length, 6);
  });

  it("checks for every hop whether the host is allowed", async () => {
    await using web = await startWeb({
      answer: (_, response) => response.writeHead(307, { location: "http://b.example/" }).end(),
    });
    const allowsHost = (host: string): boolean => host === "a.example";
    await assert.rejects(web.client.get("http://a.example/", asking({ allowsHost })), {
      code: "forbidden",
      message: "The address is not allowed: b.example (the run may not talk to it)",
    });
    assert.deepEqual(web.asked, ["a.example /"]);
    assert.deepEqual(web.resolved, ["a.example"]);
  });

  it("stops a run that makes too many requests, until the minute is over", async () => {
    const clock = createManualClock(1_000_000);
    await using web = await startWeb({
      answer: (_, response) => response.end("Here."),
      parts: { clock, limits: { perMinute: 2 } },
    });
    const get = () => web.client.get("http://example.com/", asking());
    await get();
    await clock.advance(20_000);
    await get();
    await assert.rejects(get(), { code: "tool_failed", message: /Try again in 40 s/ });
    await clock.advance(40_000);
    assert.equal((await get()).status, 200);
  });

  it("reports that a run was cancelled if its signal aborts in the middle", async () => {
    await using web = await startWeb({ answer: (_, response) => void response.write("Beginning") });
    const stop = new AbortController();
    const pending = web.client.get("http://example.com/", asking({ signal: stop.signal }));
    while (web.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await assert.rejects(pending, { code: "cancelled" });
  });

  it("reports that nothing listens", async () => {
    await using web = await startWeb({ answer: () => {} });
    const dial = () => ({ host: "127.0.0.1", port: 9 });
    const client = createWebClient({ ...web.parts, dial });
    await assert.rejects(client.get("http://example.com/", asking()), {
      code: "tool_failed",
      message: "`example.com` refuses connections.",
    });
  });
});

describe("decompression", () => {
  const text = "All work and no play. ".repeat(1000);
  const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
    gzip: zlib.gzipSync,
    "x-gzip": zlib.gzipSync,
    deflate: zlib.deflateSync,
    br: zlib.brotliCompressSync,
    identity: Buffer.from,
  };
  const served = (encoding: string, body: Buffer) =>
    startWeb({
      answer: (_, out) => out.writeHead(200, { "content-encoding": encoding }).end(body),
    });

  for (const [encoding, encode] of Object.entries(encodings)) {
    it(`reads ${encoding}`, async () => {
      await using web = await served(encoding, encode(text));
      assert.equal((await web.client.get("http://example.com/", asking())).body.toString(), text);
    });
  }

  it("reads deflate without its wrapper", async () => {
    await using web = await served("deflate", zlib.deflateRawSync(text));
    assert.equal((await web.client.get("http://example.com/", asking())).body.toString(), text);
  });

  it("reads an empty body that claims to be compressed", async () => {
    await using web = await served("gzip", Buffer.alloc(0));
    assert.equal((await web.client.get("http://example.com/", asking())).body.length, 0);
  });

  for (const encoding of ["gzip, gzip", "compress", "constructor"]) {
    it(`refuses ${encoding}`, async () => {
      await using web = await served(encoding, zlib.gzipSync(zlib.gzipSync(text)));
      await assert.rejects(web.client.get("http://example.com/", asking()), {
        code: "tool_failed",
        message: `The answer is compressed in an unknown way: ${encoding}.`,
      });
    });
  }

  it("reports bytes that are not compressed as declared", async () => {
    await using web = await served("gzip", Buffer.from("plain text"));
    await assert.rejects(web.client.get("http://example.com/", asking()), {
      message: "The answer of `example.com` cannot be decompressed.",
    });
  });
});

describe("a call of an API", () => {
  it("sends method, headers and body, and follows redirects of its origin with them", async () => {
    const bodies: string[] = [];
    await using web = await startWeb({
      async answer(request, response) {
        let body = "";
        for await (const piece of request) body += piece;
        bodies.push(`${request.method} ${request.headers["x-key"]} ${body}`);
        if (request.url === "/old") response.writeHead(308, { location: "/new" }).end();
        else response.writeHead(200, { "content-type": "application/json" }).end("{}");
      },
    });
    const answer = await web.client.request({
      url: "http://api.example/old",
      method: "POST",
      headers: { "x-key": "k", "content-type": "application/json" },
      body: '{"q":1}',
      ...asking(),
    });
    assert.deepEqual([answer.url, answer.body.toString()], ["http://api.example/new", "{}"]);
    assert.deepEqual(bodies, ['POST k {"q":1}', 'POST k {"q":1}']);
  });

  it("reaches a private host that the user configured for it", async () => {
    await using web = await startWeb({
      answer: (_, response) => response.end("Mine."),
      names: { "searx.lan": [["192.168.1.5"]] },
    });
    const request = {
      url: "http://searx.lan/",
      method: "GET" as const,
      headers: {},
      ...asking(),
    };
    await assert.rejects(web.client.request(request), { code: "forbidden" });
    const answer = await web.client.request({ ...request, privateHosts: ["searx.lan"] });
    assert.equal(answer.body.toString(), "Mine.");
  });
});

describe("hosts that the user allows", () => {
  const let_ = async (url: string, privateHosts: readonly string[], addresses: string[]) => {
    await using web = await startWeb({
      answer: (_, response) => response.end("Mine."),
      names: { "wiki.lan": [addresses], localhost: [addresses] },
      parts: { privateHosts },
    });
    return (await web.client.get(url, asking())).body.toString();
  };

  for (const [url, host, address] of [
    ["http://wiki.lan/", "wiki.lan", "10.0.0.7"],
    ["http://wiki.lan:8080/", "wiki.lan", "10.0.0.7"],
    ["http://wiki.lan:8080/", "wiki.lan:8080", "fd12::7"],
    ["http://localhost:3000/", "LOCALHOST:3000", "127.0.0.1"],
    ["http://127.0.0.1:3000/", "127.0.0.1:3000", ""],
    ["http://[::1]:3000/", "[::1]:3000", ""],
    ["http://169.254.169.254/", "169.254.169.254", ""],
  ] as const) {
    it(`${host} opens ${url}`, async () =>
      assert.equal(await let_(url, [host], [address]), "Mine."));
  }

  for (const [url, host, address] of [
    ["http://wiki.lan:9090/", "wiki.lan:8080", "10.0.0.7"],
    ["http://other.wiki.lan/", "other.lan", "10.0.0.7"],
    ["http://localhost:3001/", "localhost:3000", "127.0.0.1"],
    ["http://127.0.0.2:3000/", "127.0.0.1:3000", ""],
  ] as const) {
    it(`${host} does not open ${url}`, async () => {
      await using web = await startWeb({
        answer: (_, response) => response.end("Mine."),
        names: { "wiki.lan": [[address]], "other.wiki.lan": [[address]], localhost: [[address]] },
        parts: { privateHosts: [host] },
      });
      await assert.rejects(web.client.get(url, asking()), { code: "forbidden" });
      assert.deepEqual(web.dialled, []);
    });
  }

  it("does not open a metadata service for a name", async () => {
    const opened = let_("http://wiki.lan/", ["wiki.lan"], ["169.254.169.254"]);
    await assert.rejects(opened, { message: /metadata/ });
  });
});

describe("TLS", () => {
  const FIXTURES = new URL("../../../../../test/providers/fixtures/", import.meta.url);
  const read = (name: string): string => readFileSync(new URL(name, FIXTURES), "utf8");

  async function get(url: string, names: string[]) {
    const servers: (string | false | undefined)[] = [];
    const server = createServer(
      {
        key: read("server-key.pem"),
        cert: read("server.pem"),
        SNICallback(name, done) {
          servers.push(name);
          done(null);
        },
      },
      (_, response) => response.end("Sealed."),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const client = createWebClient({
      clock: systemClock,
      userAgent: "t",
      respectRobots: false,
      privateHosts: names,
      resolve: async () => ["127.0.0.1"],
      dial: () => ({ host: "127.0.0.1", port }),
      ca: [read("ca.pem")],
    });
    try {
      const { body } = await client.get(url, asking());
      return { body: body.toString(), servers };
    } finally {
      server.close().closeAllConnections();
    }
  }

  it("checks the certificate against the name, which it also sends", async () => {
    const { body, servers } = await get("https://localhost/", ["localhost"]);
    assert.deepEqual([body, servers], ["Sealed.", ["localhost"]]);
  });

  it("refuses a certificate of another name", async () => {
    await assert.rejects(get("https://other.lan/", ["other.lan"]), {
      code: "tool_failed",
      message: /certificate of `other.lan` is not trusted/,
    });
  });
});
