import assert from "node:assert/strict";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, it } from "node:test";
import { Failure } from "../../../../src/base/failure.ts";
import { findProxy } from "../../../../src/tools/web/network/find-route.ts";
import { createWebClient } from "../../../../src/tools/web/network/web-client.ts";
import { asking, startWeb } from "../web-servers.ts";

describe("the proxy of a URL", () => {
  const env = {
    HTTP_PROXY: "http://plain:1",
    https_proxy: "http://sealed:2",
    NO_PROXY: "corp.example, .lan,one.example:8080",
  };
  for (const [url, proxy] of [
    ["http://example.com/", "http://plain:1"],
    ["https://example.com/", "http://sealed:2"],
    ["http://corp.example/", undefined],
    ["http://a.corp.example/", undefined],
    ["http://notcorp.example/", "http://plain:1"],
    ["http://wiki.lan/", undefined],
    ["http://one.example:8080/", undefined],
    ["http://one.example/", "http://plain:1"],
  ] as const) {
    it(`is ${proxy} for ${url}`, () => assert.equal(findProxy(new URL(url), env), proxy));
  }

  it("may be one for all, or none for anything", () => {
    const url = new URL("https://example.com/");
    assert.equal(findProxy(url, { ALL_PROXY: "http://all:3" }), "http://all:3");
    assert.equal(findProxy(url, { ALL_PROXY: "http://all:3", no_proxy: "*" }), undefined);
    assert.equal(findProxy(url, { HTTPS_PROXY: "" }), undefined);
  });
});

/** A proxy that leads every host to one port of the loopback. */
async function startProxy(target: number) {
  const asked: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    const tunnel = connect(target, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      tunnel.pipe(socket).pipe(tunnel);
    });
    tunnel.on("error", () => socket.destroy());
    socket.on("error", () => tunnel.destroy());
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

describe("a client with a proxy", () => {
  const start = async () => {
    const web = await startWeb({
      answer: (_, response) => response.end("Through."),
      names: { "inside.example": [["10.0.0.1"]] },
    });
    const { port = 0 } = web.parts.dial?.("", 0) ?? {};
    return { web, port };
  };

  it("sends it names, also those that this machine does not know", async () => {
    const { web, port } = await start();
    await using _ = web;
    await using proxy = await startProxy(port);
    const resolve = async (): Promise<string[]> => {
      throw new Failure("tool_failed", "Unknown.");
    };
    const client = createWebClient({ ...web.parts, resolve, proxies: { HTTP_PROXY: proxy.url } });
    const { body } = await client.get("http://far.example/", asking());
    assert.equal(body.toString(), "Through.");
    assert.deepEqual(proxy.asked, ["far.example:80"]);
  });

  it("still refuses private addresses and names that lead to them", async () => {
    const { web, port } = await start();
    await using _ = web;
    await using proxy = await startProxy(port);
    const client = createWebClient({ ...web.parts, proxies: { HTTP_PROXY: proxy.url } });
    for (const url of ["http://inside.example/", "http://127.0.0.1/", "http://localhost/"]) {
      await assert.rejects(client.get(url, asking()), { code: "forbidden" });
    }
    assert.deepEqual(proxy.asked, []);
  });
});
