import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { Failure } from "../../src/base/failure.ts";
import { readJsonBody } from "../../src/server/read-body.ts";
import { receiveFile } from "../../src/server/receive-file.ts";
import { PATIENCE_MS } from "../patience.ts";

const READERS: Readonly<Record<string, (request: IncomingMessage) => Promise<unknown>>> = {
  JSON: (request) => readJsonBody(request, { maxBytes: 1000, timeoutMs: PATIENCE_MS }, "tenant"),
  "a form": (request) =>
    receiveFile(request, { maxBytes: 1000, idleMs: PATIENCE_MS }, () => assert.fail("it was kept")),
};

/** A request whose client left in the middle of its body, before anybody read it. */
async function receiveLeft(t: TestContext): Promise<IncomingMessage> {
  const server = createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const headers = { "content-length": 100, "content-type": "multipart/form-data; boundary=x" };
  const sending = sendRequest({ host: "127.0.0.1", port, method: "POST", headers });
  sending.on("error", () => {});
  sending.write("{");
  const [request] = (await once(server, "request")) as [IncomingMessage];
  const closed = new Promise((resolve) => request.on("error", () => {}).once("close", resolve));
  sending.destroy();
  await closed;
  return request;
}

describe("a body whose client has left before it is read", () => {
  for (const [name, read] of Object.entries(READERS)) {
    it(`is not waited for: ${name}`, async (t) => {
      const request = await receiveLeft(t);
      const failure = await read(request).then(
        () => assert.fail("it was read"),
        (thrown) => thrown,
      );
      assert.equal((failure as Failure).code, "cancelled");
    });
  }
});
