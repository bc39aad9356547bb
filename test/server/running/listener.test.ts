import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it, type TestContext } from "node:test";
import {
  openListener,
  SOCKET_LIMITS,
  type SocketLimits,
} from "../../../src/server/running/listener.ts";
import { whenClosed } from "../../closing.ts";

describe("the socket", () => {
  const listen = async (t: TestContext, limits: Partial<SocketLimits> = {}) => {
    const socket = { ...SOCKET_LIMITS, ...limits };
    const options = { host: "127.0.0.1", port: 0, socket };
    const listener = await openListener(options, async (request, response) => {
      request.resume();
      response.end("answer");
    });
    t.after(() => {
      listener.destroy();
      return listener.close();
    });
    return listener;
  };
  /** Sends raw bytes and reads until the server closes the connection. */
  const send = async (url: string, bytes: string): Promise<string> => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.setEncoding("utf8").on("error", () => {});
    let text = "";
    socket.on("data", (piece: string) => {
      text += piece;
    });
    socket.write(bytes);
    await whenClosed(socket);
    return text;
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

  it("says why it cannot listen", async (t) => {
    const { url } = await listen(t);
    const port = Number(new URL(url).port);
    const again = openListener({ host: "127.0.0.1", port }, async () => {});
    await assert.rejects(again, { code: "invalid_request", message: /something else listens/ });
  });
});
