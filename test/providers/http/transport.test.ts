import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Failure } from "../../../src/base/failure.ts";
import { readSystemBundle, readTrustedBundle } from "../../../src/providers/http/ca-bundles.ts";
import type { HttpAnswer, HttpRequest } from "../../../src/providers/http/http-answer.ts";
import { createTransport, type Transport } from "../../../src/providers/http/transport.ts";
import { PATIENCE_MS, PATIENT_TIMEOUTS, patience } from "../../patience.ts";
import { type LoopbackProxy, startLoopbackProxy } from "./loopback-proxy.ts";

const FIXTURES = new URL("../../../../test/providers/fixtures/", import.meta.url);
const CA_FILE = fileURLToPath(new URL("ca.pem", FIXTURES));

const servers: Server[] = [];
const transports: Transport[] = [];
after(async () => {
  for (const transport of transports) await transport.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function transportFor(env: Record<string, string>, systemBundles?: readonly string[]): Transport {
  const transport = createTransport(env, { systemBundles });
  transports.push(transport);
  return transport;
}

const get = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "GET",
  url,
  headers: {},
  body: undefined,
  signal: patience(),
  timeouts: PATIENT_TIMEOUTS,
  ...more,
});

async function textOf({ chunks }: HttpAnswer): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return Buffer.concat(pieces).toString();
}

async function startProxy(refusals?: readonly string[]): Promise<LoopbackProxy> {
  const proxy = await startLoopbackProxy(refusals);
  servers.push(proxy.server);
  return proxy;
}

describe("the transport", () => {
  it("uses the proxy of the usual variables", async () => {
    const target = await listen(createServer((_, response) => response.end("direct")));
    const proxy = await startProxy();
    const transport = transportFor({ HTTP_PROXY: proxy.url });
    const text = await textOf(await transport.send(get(`http://models.test:${target}/v1`)));
    assert.equal(proxy.asked.length, 1);
    assert.match(proxy.asked[0] ?? "", /models\.test/);
    assert.ok(["direct", "through the proxy"].includes(text));
  });

  it("leaves out the proxy for hosts in NO_PROXY and for this machine", async () => {
    const target = await listen(createServer((_, response) => response.end("direct")));
    const proxy = await startProxy();
    const transport = transportFor({ ALL_PROXY: proxy.url });
    const url = `http://127.0.0.1:${target}/v1`;
    assert.equal(await textOf(await transport.send(get(url))), "direct");
    assert.deepEqual(proxy.asked, []);
  });

  const refusals: readonly [string, RegExp, boolean][] = [
    [
      "407 Proxy Authentication Required",
      /The proxy `127\.0\.0\.1:\d+` wants a name and a password \(407\)/,
      false,
    ],
    [
      "403 Forbidden",
      /The proxy `127\.0\.0\.1:\d+` lets nothing through to `models\.test` \(403\)/,
      false,
    ],
    [
      "404 Not Found",
      /The proxy `127\.0\.0\.1:\d+` opens no tunnel to `models\.test` \(404\)/,
      false,
    ],
    ["502 Bad Gateway", /The proxy `127\.0\.0\.1:\d+` did not reach `models\.test` \(502\)/, true],
  ];
  for (const [status, message, retryable] of refusals) {
    it(`reports a proxy that refuses with ${status}`, async () => {
      const proxy = await startProxy([status, status]);
      const transport = transportFor({ ALL_PROXY: proxy.url });
      for (const scheme of ["https", "http"]) {
        await assert.rejects(transport.send(get(`${scheme}://models.test/v1`)), (thrown) => {
          assert.ok(thrown instanceof Failure);
          assert.match(thrown.message, message);
          assert.deepEqual([thrown.code, thrown.retryable], ["provider_unreachable", retryable]);
          return true;
        });
      }
      assert.deepEqual(proxy.asked, ["CONNECT models.test:443", "CONNECT models.test:80"]);
    });
  }

  it("reports that a proxy refuses its password, without showing it", async () => {
    const proxy = await startProxy(["407 Proxy Authentication Required"]);
    const transport = transportFor({ HTTPS_PROXY: proxy.url.replace("//", "//me:hush-1234@") });
    await assert.rejects(transport.send(get("https://models.test/v1")), (thrown) => {
      assert.ok(thrown instanceof Failure);
      assert.match(thrown.message, /does not take the name and password it was given \(407\)/);
      assert.ok(!thrown.message.includes("hush-1234"));
      return true;
    });
  });

  it("names the proxy if the proxy does not answer", async () => {
    const gone = createServer();
    const port = await listen(gone);
    await new Promise((resolve) => gone.close(resolve));
    const transport = transportFor({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
    await assert.rejects(transport.send(get("https://models.test/v1")), {
      code: "provider_unreachable",
      message: new RegExp(`Nothing answers at the proxy \`127\\.0\\.0\\.1:${port}\``),
    });
  });

  it("is cancelled by its own signal while a proxy opens the tunnel", async () => {
    const stopping = new AbortController();
    const server = createServer();
    server.on("connect", () => stopping.abort());
    const url = `http://127.0.0.1:${await listen(server)}`;
    const sent = transportFor({ HTTPS_PROXY: url }).send(
      get("https://models.test/v1", { signal: stopping.signal }),
    );
    await assert.rejects(sent, { code: "cancelled" });
  });

  it("keeps connections for the next request", async () => {
    const ports = new Set<number | undefined>();
    const server = createServer((request, response) => {
      ports.add(request.socket.remotePort);
      response.end("ok");
    });
    // However long the machine takes between two requests.
    server.keepAliveTimeout = PATIENCE_MS;
    const url = `http://127.0.0.1:${await listen(server)}/`;
    const transport = transportFor({});
    for (let i = 0; i < 3; i++) {
      await textOf(await transport.send(get(url)));
      // The pool gets the connection back a moment after the body's end.
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(ports.size, 1);
  });

  it("pauses a server whose reader is slow, and loses nothing", async () => {
    const bytes = 24 * 1024 * 1024;
    const server = createServer((_, response) => response.end(Buffer.alloc(bytes, "x")));
    const transport = transportFor({});
    const answer = await transport.send(get(`http://127.0.0.1:${await listen(server)}/`));
    let seen = 0;
    for await (const chunk of answer.chunks) {
      seen += chunk.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(seen, bytes);
  });

  it("drops the connection if the body is left before it has begun", async () => {
    let closed: () => void = () => {};
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = createServer((_, response) => {
      response.on("close", closed);
      response.write("the beginning");
    });
    const transport = transportFor({});
    const answer = await transport.send(get(`http://127.0.0.1:${await listen(server)}/`));
    await answer.chunks.return();
    await isClosed;
  });

  it("rejects at once if it was cancelled before it began", async () => {
    const transport = transportFor({});
    const signal = AbortSignal.abort();
    await assert.rejects(transport.send(get("http://127.0.0.1:1/", { signal })), {
      code: "cancelled",
    });
  });
});

describe("certificate authorities", () => {
  const startTls = async (): Promise<string> => {
    const key = readFileSync(new URL("server-key.pem", FIXTURES));
    const cert = readFileSync(new URL("server.pem", FIXTURES));
    const server = createTlsServer({ key, cert }, (_, response) => response.end("secret"));
    return `https://localhost:${await listen(server as unknown as Server)}/`;
  };

  it("refuses a server whose certificate has no known authority, and says what to set", async () => {
    const transport = transportFor({}, []);
    await assert.rejects(transport.send(get(await startTls())), (thrown) => {
      assert.ok(thrown instanceof Failure);
      assert.match(thrown.message, /not trusted.*SSL_CERT_FILE/);
      return true;
    });
  });

  for (const variable of ["SSL_CERT_FILE", "CURL_CA_BUNDLE"]) {
    it(`trusts the bundle that ${variable} names`, async () => {
      const transport = transportFor({ [variable]: CA_FILE }, []);
      assert.equal(await textOf(await transport.send(get(await startTls()))), "secret");
    });
  }

  it("falls back to the system's bundle if the runtime's own does not know the server", async () => {
    const transport = transportFor({}, ["/no/such/file", CA_FILE]);
    assert.equal(await textOf(await transport.send(get(await startTls()))), "secret");
  });

  it("prefers a variable to the system's bundle", () => {
    const named = readTrustedBundle({ SSL_CERT_FILE: CA_FILE, CURL_CA_BUNDLE: "/no/such/file" });
    assert.equal(named?.at(-1), readFileSync(CA_FILE, "utf8"));
    assert.equal(readTrustedBundle({}), undefined);
    assert.equal(readSystemBundle(["/no/such/file"]), undefined);
  });

  it("names the variable with a file that cannot be read", () => {
    assert.throws(
      () => readTrustedBundle({ SSL_CERT_FILE: "/no/such/file" }),
      /SSL_CERT_FILE names/,
    );
    const both = { SSL_CERT_FILE: CA_FILE, NODE_EXTRA_CA_CERTS: "/no/such/file" };
    assert.throws(() => readTrustedBundle(both), /NODE_EXTRA_CA_CERTS names/);
  });
});

describe("an answer's text", () => {
  it("is the whole body, in however many pieces it comes", async () => {
    const pieces = ["one ", "twö ", "three"];
    const server = createServer((_request, response) => {
      const write = (): void => {
        const piece = pieces.shift();
        if (piece === undefined) response.end();
        else response.write(piece, write);
      };
      write();
    });
    const url = `http://127.0.0.1:${await listen(server)}/`;
    const answer = await transportFor({}).send(get(url));
    assert.equal(await answer.text(1000), "one twö three");
  });

  it("ends if it is too long, and closes the connection", async () => {
    const closed: Promise<void>[] = [];
    const server = createServer((request, response) => {
      closed.push(new Promise((resolve) => request.socket.once("close", () => resolve())));
      response.write("0123456789");
    });
    const url = `http://127.0.0.1:${await listen(server)}/`;
    const answer = await transportFor({}).send(get(url));
    assert.equal(await answer.text(5), "0123456789");
    await closed[0];
  });

  it("rejects if the body breaks off", async () => {
    const server = createServer((request, response) => {
      response.writeHead(200, { "content-length": 20 });
      response.write("0123456789", () => request.socket.destroy());
    });
    const url = `http://127.0.0.1:${await listen(server)}/`;
    const answer = await transportFor({}).send(get(url));
    await assert.rejects(answer.text(1000), Failure);
  });
});

describe("an invalid address", () => {
  it("is a failure of the request, the first one and any other", async () => {
    const transport = transportFor({});
    for (const time of ["first", "second"]) {
      await assert.rejects(transport.send(get("not an address")), Failure, time);
    }
  });
});
