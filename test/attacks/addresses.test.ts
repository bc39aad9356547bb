/** What the web tools must not reach, and what a server must not do to them. */

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, it } from "node:test";
import * as zlib from "node:zlib";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { createScope } from "../../src/tools/scope.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { createFetchTool } from "../../src/tools/web/fetch.ts";
import { asking, type FakeWeb, PUBLIC, startWeb } from "../tools/web/web-servers.ts";
import { ADDRESS_ROWS } from "./address-rows.ts";

/** Makes a call like the gate, with arguments parsed and targets read. */
async function callFetch(web: FakeWeb, url: string): Promise<unknown> {
  const { dial, ...parts } = web.parts;
  const tool = createFetchTool({ ...parts, ...(dial ? { dial } : {}) });
  const input = tool.parse({ url });
  tool.targets?.(input);
  const context = { scope: createScope(), ...asking() } as unknown as ToolContext;
  return await tool.run(input, context);
}

describe("an address that must not be read", () => {
  it("comes in at least 60 forms", () => assert.ok(ADDRESS_ROWS.length >= 60));

  for (const row of ADDRESS_ROWS) {
    it(`${row.attack ?? JSON.stringify(row.url)}: ${row.why}`, async () => {
      await using web = await startWeb({
        names: row.names ?? {},
        answer(request, response) {
          const [status, location] = row.redirects?.[request.url ?? ""] ?? [200, ""];
          response.writeHead(status, location === "" ? {} : { location }).end("A secret.");
        },
      });
      await assert.rejects(callFetch(web, row.url), (thrown: Error & { code?: string }) => {
        assert.equal(thrown.code, row.code ?? "forbidden", thrown.message);
        assert.ok(thrown.message.includes(row.why), thrown.message);
        return true;
      });
      assert.deepEqual(web.dialled, Array(row.reaches ?? 0).fill(`${PUBLIC}:80`));
    });
  }
});

describe("DNS whose answers change", () => {
  it("is asked once: the connection goes to the checked address", async () => {
    await using web = await startWeb({
      names: { "rebind.example": [[PUBLIC], ["127.0.0.1"]] },
      answer: (_, response) => response.end("Public."),
    });
    const { body } = await web.client.get("http://rebind.example/", asking());
    assert.equal(body.toString(), "Public.");
    assert.deepEqual([web.resolved, web.dialled], [["rebind.example"], [`${PUBLIC}:80`]]);
  });

  it("is asked again by the next call, whose answer is checked as well", async () => {
    await using web = await startWeb({
      names: { "rebind.example": [[PUBLIC], ["10.0.0.1"]] },
      answer: (_, response) => response.end("Public."),
    });
    await web.client.get("http://rebind.example/", asking());
    await assert.rejects(web.client.get("http://rebind.example/", asking()), { code: "forbidden" });
    assert.equal(web.dialled.length, 1);
  });

  it("without an answer leads nowhere", async () => {
    await using web = await startWeb({
      names: { "empty.example": [[]] },
      answer: (_, response) => response.end("Public."),
    });
    await assert.rejects(web.client.get("http://empty.example/", asking()), {
      code: "tool_failed",
    });
    assert.deepEqual(web.dialled, []);
  });
});

describe("credentials", () => {
  const headers = { authorization: "Bearer key", "x-api-key": "key", cookie: "a=b" };

  for (const target of ["http://b.example/", "http://a.example:8080/", "https://a.example/"]) {
    it(`do not follow a redirect from http://a.example/ to ${target}`, async () => {
      await using web = await startWeb({
        answer(request, response) {
          const isFirst = request.headers.host === "a.example";
          response.writeHead(isFirst ? 307 : 200, isFirst ? { location: target } : {}).end();
        },
      });
      // The server does not speak TLS, but what it got before is visible.
      await web.client.get("http://a.example/", asking({ headers })).catch(() => {});
      const [first, second] = web.requests;
      assert.equal(first?.headers.authorization, "Bearer key");
      for (const name of Object.keys(headers)) assert.equal(second?.headers[name], undefined);
    });
  }

  it("are not sent again once they have left their origin", async () => {
    await using web = await startWeb({
      answer(request, response) {
        const next: Record<string, string> = {
          "/1": "http://b.example/2",
          "/2": "http://a.example/3",
        };
        const location = next[request.url ?? ""];
        response.writeHead(location ? 302 : 200, location ? { location } : {}).end();
      },
    });
    await web.client.get("http://a.example/1", asking({ headers }));
    const sent = web.requests.map((request) => request.headers.authorization);
    assert.deepEqual(sent, ["Bearer key", undefined, undefined]);
  });

  it("of an API's call make a redirect to another origin a refusal", async () => {
    await using web = await startWeb({
      answer: (_, response) => response.writeHead(308, { location: "http://b.example/" }).end(),
    });
    const call = { url: "http://api.example/?key=k", method: "POST" as const, body: "k", headers };
    await assert.rejects(web.client.request({ ...call, ...asking() }), {
      code: "forbidden",
      message: /Keys are not sent to another server/,
    });
    assert.deepEqual(web.asked, ["api.example /?key=k"]);
  });

  it("that a server sets are not kept", async () => {
    await using web = await startWeb({
      answer: (_, response) => response.writeHead(200, { "set-cookie": "id=1" }).end(),
    });
    await web.client.get("http://a.example/", asking());
    await web.client.get("http://a.example/", asking());
    assert.equal(web.requests[1]?.headers.cookie, undefined);
  });
});

describe("a server that attacks", () => {
  const limits = { wireBytes: 64 * 1024, plainBytes: 256 * 1024 };

  it("with a decompression bomb fills no more than the limit", async () => {
    for (const [encoding, encode] of [
      ["gzip", zlib.gzipSync],
      ["br", zlib.brotliCompressSync],
      ["deflate", zlib.deflateSync],
    ] as const) {
      const bomb = encode(Buffer.alloc(4 * 1024 * 1024));
      await using web = await startWeb({
        answer: (_, out) => out.writeHead(200, { "content-encoding": encoding }).end(bomb),
        parts: { limits },
      });
      const answer = await web.client.get("http://example.com/", asking());
      assert.deepEqual(
        [encoding, answer.body.length, answer.isCut],
        [encoding, limits.plainBytes, true],
      );
    }
  });

  it("with a body without an end is cut off at the limit", async () => {
    await using web = await startWeb({
      answer: (_, response) => pour(response, Buffer.alloc(16 * 1024, "x")),
      parts: { limits },
    });
    const answer = await web.client.get("http://example.com/", asking());
    assert.deepEqual([answer.body.length, answer.isCut], [limits.wireBytes, true]);
    const [request] = web.requests;
    await new Promise((resolve) =>
      request?.destroyed ? resolve(0) : request?.once("close", resolve),
    );
  });

  it("with a length that is more than the limit is read up to it", async () => {
    await using web = await startWeb({
      answer(_, response) {
        response.writeHead(200, { "content-length": String(10 ** 12) });
        pour(response, Buffer.alloc(16 * 1024, "x"));
      },
      parts: { limits },
    });
    const answer = await web.client.get("http://example.com/", asking());
    assert.deepEqual([answer.body.length, answer.isCut], [limits.wireBytes, true]);
  });

  it("that sends less than it promises has not given an answer", async () => {
    await using web = await startWeb({
      answer(_, response) {
        response.writeHead(200, { "content-length": "1000" }).write("Short.");
        setImmediate(() => response.socket?.end());
      },
    });
    await assert.rejects(web.client.get("http://example.com/", asking()), {
      code: "tool_failed",
      message: "`example.com` closed the connection before its answer's end.",
    });
  });

  it("that sends more than it promises is read only to the promised length", async () => {
    await using web = await startWeb({
      answer: (_, response) =>
        void response.socket?.end(
          "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nFirstHTTP/1.1 200 OK\r\n\r\n",
        ),
    });
    const { body } = await web.client.get("http://example.com/", asking());
    assert.equal(body.toString(), "First");
  });

  for (const [how, begin] of [
    ["says nothing at all", () => {}],
    [
      "sends a header and stops",
      (out: ServerResponse) => out.socket?.write("HTTP/1.1 200 OK\r\nx: "),
    ],
    ["sends a byte of its body and stops", (out: ServerResponse) => out.write("x")],
  ] as const) {
    it(`that ${how} is abandoned when the time is over`, async () => {
      const clock = createManualClock();
      let began = (): void => {};
      const asked = new Promise<void>((resolve) => {
        began = resolve;
      });
      await using web = await startWeb({
        answer(_, response) {
          begin(response);
          setImmediate(began);
        },
        parts: { clock },
      });
      const pending = web.client.get("http://example.com/", asking());
      pending.catch(() => {});
      await asked;
      await clock.advance(30_000);
      await assert.rejects(pending, {
        code: "tool_failed",
        message: "There was no complete answer within 30 s.",
      });
      assert.equal(clock.sleeping, 0);
    });
  }

  it("that adds hop after hop has the same time for all of them", async () => {
    const clock = createManualClock();
    let hops = 0;
    await using web = await startWeb({
      async answer(_, response) {
        hops++;
        await clock.advance(9000);
        response.writeHead(302, { location: `/${hops}` }).end();
      },
      parts: { clock },
    });
    await assert.rejects(web.client.get("http://example.com/", asking()), {
      message: /within 30 s/,
    });
    assert.equal(hops, 4);
  });

  it("that sends a megabyte of headers is refused", async () => {
    await using web = await startWeb({
      answer: (_, response) =>
        void response.socket?.write(
          `HTTP/1.1 200 OK\r\n${`x-a: ${"a".repeat(1000)}\r\n`.repeat(1000)}`,
        ),
    });
    await assert.rejects(web.client.get("http://example.com/", asking()), {
      code: "tool_failed",
      message: "`example.com` sends too many headers.",
    });
  });

  it("that does not speak HTTP is refused", async () => {
    await using web = await startWeb({
      answer: (_, response) => void response.socket?.end("-ERR unknown command\r\n"),
    });
    await assert.rejects(web.client.get("http://example.com/", asking()), {
      code: "tool_failed",
      message: /does not answer in HTTP/,
    });
  });
});

/** Writes for ever, as fast as it is read. */
function pour(response: ServerResponse, piece: Buffer): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", more);
  more();
}
