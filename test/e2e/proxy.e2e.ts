/** The built command with a proxy: the bundle has its own copy of the proxy client. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { createPlace } from "./command.ts";
import { CHAT } from "./wires.ts";

/** A proxy that leads every host to the loopback. */
async function startProxy(): Promise<AsyncDisposable & { url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    const target = connect(Number(request.url?.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    target.on("error", () => socket.destroy());
    socket.on("error", () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

describe("a proxy", () => {
  for (const variable of ["HTTP_PROXY", "http_proxy", "ALL_PROXY"]) {
    it(`is used if ${variable} names it`, async () => {
      await using place = await createPlace();
      await using proxy = await startProxy();
      await using upstream = await CHAT.start({ engine: script(reply.text("Through.")) });
      const url = upstream.url.replace("127.0.0.1", "models.test");
      const ended = await place.run(
        ["run", "-q", "-m", "custom/x", "--provider", "openai-chat", "--url", url, "Hi"],
        { env: { [variable]: proxy.url } },
      );
      assert.deepEqual([ended.stderr, ended.stdout, ended.code], ["", "Through.\n", 0]);
      assert.deepEqual(proxy.asked, [new URL(url).host]);
    });
  }

  it("is not used for this machine", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.text("Direct.")) });
    const ended = await place.run(
      ["run", "-q", "-m", "custom/x", "--provider", "openai-chat", "--url", upstream.url, "Hi"],
      { env: { HTTP_PROXY: "http://127.0.0.1:9" } },
    );
    assert.deepEqual([ended.stderr, ended.stdout, ended.code], ["", "Direct.\n", 0]);
  });
});
