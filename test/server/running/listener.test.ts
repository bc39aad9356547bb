import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import {
  type GivenConnections,
  openListener,
  SOCKET_LIMITS,
  type SocketLimits,
} from "../../../src/server/running/listener.ts";
import { whenClosed } from "../../closing.ts";

/** The part of another process: it accepts connections and passes each on. */
function createGiven(t: TestContext): GivenConnections {
  const server = createServer();
  t.after(() => server.close());
  return {
    open: (take) =>
      new Promise((resolve) => {
        server.on("connection", take).listen(0, "127.0.0.1", () => {
          const address = server.address();
          assert.ok(address && typeof address === "object");
          resolve(address.port);
        });
      }),
    close: () => void server.close(),
  };
}

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../../../test/providers/fixtures/${name}`, import.meta.url));
}

const SOURCES = {
  "its own socket": () => undefined,
  "another process": createGiven,
} satisfies Record<string, (t: TestContext) => GivenConnections | undefined>;

for (const [source, open] of Object.entries(SOURCES)) {
  describe(`a listener with connections of ${source}`, () => {
    const listen = async (t: TestContext, limits: Partial<SocketLimits> = {}, onEnd = () => {}) => {
      const socket = { ...SOCKET_LIMITS, ...limits };
      const options = { host: "127.0.0.1", port: 0, socket, given: open(t) };
      const listener = await openListener(options, async (request, response) => {
        for await (const _ of request);
        response.end("answer", onEnd);
      });
      t.after(() => {
        listener.destroy();
        return listener.close();
      });
      return listener;
    };
    const dial = (url: string): Socket =>
      connect(Number(new URL(url).port), "127.0.0.1")
        .setEncoding("utf8")
        .on("error", () => {});
    /** Reads until the server closes the connection. */
    const read = async (socket: Socket): Promise<string> => {
      let said = "";
      socket.on("data", (piece: string) => {
        said += piece;
      });
      await whenClosed(socket);
      return said;
    };
    const send = async (url: string, bytes: string): Promise<string> => {
      const socket = dial(url);
      socket.write(bytes);
      return await read(socket);
    };

    it("answers a head that is too large in the API's form", async (t) => {
      const { url } = await listen(t, { maxHeaderBytes: 2000 });
      const answer = await send(url, `GET / HTTP/1.1\r\nhost: x\r\na: ${"b".repeat(4000)}\r\n\r\n`);
      assert.match(answer, /^HTTP\/1\.1 431 /);
      assert.match(answer, /"code":"too_large"/);
      assert.equal(await (await fetch(url)).text(), "answer");
    });

    it("gives up on a head that does not come to its end", async (t) => {
      const { url } = await listen(t, { headersTimeoutMs: 50, requestTimeoutMs: 50 });
      const answer = await send(url, "GET / HTTP/1.1\r\nhost: x\r\n");
      assert.match(answer, /^HTTP\/1\.1 408 /);
    });

    it("says what is wrong to a client that has ended its side", async (t) => {
      const { url } = await listen(t);
      const socket = dial(url);
      socket.end("GET / HTTP/1.1\r\nhost: x\r\n");
      assert.match(await read(socket), /^HTTP\/1\.1 400 /);
    });

    it("the listener speaks HTTPS with a certificate", async (t) => {
      const given = open(t);
      const tls = { key: fixture("server-key.pem"), cert: fixture("server.pem") };
      const listener = await openListener(
        { host: "127.0.0.1", port: 0, tls, given },
        async (_, response) => void response.end("sealed"),
      );
      const trusted = { ca: fixture("ca.pem"), servername: "localhost" };
      const [answer] = (await once(get(listener.url, trusted), "response")) as [IncomingMessage];
      assert.equal(await text(answer), "sealed");
      await listener.close();
    });

    it("closes a connection too many at once", async (t) => {
      const { url } = await listen(t, { maxConnections: 1 });
      const first = dial(url);
      first.write(
        "POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n",
      );
      await once(first, "data");
      assert.equal(await read(dial(url)), "");
      first.end("1");
      assert.match(await read(first), /\r\n\r\nanswer$/);
    });

    it("is closed when the answers in progress are sent", async (t) => {
      const order: string[] = [];
      const { url, close } = await listen(t, {}, () => order.push("answered"));
      const socket = dial(url);
      socket.write(
        "POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n",
      );
      await once(socket, "data");
      const closed = close().then(() => order.push("closed"));
      socket.end("1");
      await closed;
      assert.deepEqual(order, ["answered", "closed"]);
      await assert.rejects(fetch(url));
    });
  });
}

describe("a listener", () => {
  it("says why it cannot listen", async (t) => {
    const listener = await openListener({ host: "127.0.0.1", port: 0 }, async () => {});
    t.after(() => listener.close());
    const port = Number(new URL(listener.url).port);
    const again = openListener({ host: "127.0.0.1", port }, async () => {});
    await assert.rejects(again, { code: "invalid_request", message: /something else listens/ });
  });
});
