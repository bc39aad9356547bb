import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { sendFailure } from "../../src/server/send-answer.ts";

const BODY_BYTES = 20_000_000;

/** A server that refuses every request without reading its body. */
async function refuseAll(t: TestContext): Promise<number> {
  const server = createServer((_request, response) => {
    sendFailure(response, new Failure("too_large", "The body is too large."));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

describe("an answer to a request whose body is refused", () => {
  it("reaches a client that sends its whole body before it reads", async (t) => {
    const socket = connect(await refuseAll(t), "127.0.0.1").setEncoding("utf8");
    await once(socket, "connect");
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`);
    const isSent = new Promise<void>((resolve, reject) => {
      socket.on("error", reject);
      socket.write("x".repeat(BODY_BYTES), () => resolve());
    });
    await isSent;
    let answer = "";
    for await (const piece of socket) answer += piece;
    assert.match(answer, /^HTTP\/1\.1 413 .*connection: close\r\n.*"code":"too_large"/is);
  });

  it("ends the connection where the body never ends", async (t) => {
    const socket = connect(await refuseAll(t), "127.0.0.1").setEncoding("utf8");
    socket.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nbeg");
    let answer = "";
    for await (const piece of socket) answer += piece;
    assert.match(answer, /^HTTP\/1\.1 413 /);
  });
});
