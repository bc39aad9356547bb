import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { limitFetch } from "../../../../src/tools/mcp/session/limited-fetch.ts";

const POST = {
  method: "POST",
  body: JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call" }),
};

/** Answers with these pieces; `fails` then breaks off the connection. */
async function read(
  pieces: readonly string[],
  options: { type?: string; init?: object; fails?: boolean } = {},
): Promise<string> {
  const { type = "text/event-stream", init = POST, fails = false } = options;
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece);
    if (fails) throw new Error("reset");
  }
  const answer = new Response(ReadableStream.from(body()), { headers: { "content-type": type } });
  const response = await limitFetch(async () => answer, 1000)("http://x/", init);
  return response.text();
}

const event = (data: string): string => `data: ${data}\n\n`;

describe("the limited fetch", () => {
  it("passes events on unchanged, even if all together exceed the limit", async () => {
    const pieces = Array.from({ length: 10 }, () => `id: 1\n${event("x".repeat(400))}`);
    assert.equal(await read(pieces), pieces.join(""));
  });

  it("measures an event over its pieces and line ends", async () => {
    const cut = await read(["data: ", ...new Array<string>(30).fill("x".repeat(50)), "\n\n"]);
    assert.match(cut, /"id":5,"error":\{"code":-32603,"message":"The answer is larger/);
    assert.ok(cut.length < 1300);
    const crlf = new Array<string>(10).fill(`data: ${"x".repeat(400)}\r\n\r\n`);
    assert.ok(!(await read(crlf)).includes("larger"));
  });

  it("answers the waiting request if the answer does not come", async () => {
    for (const fails of [false, true]) {
      const text = await read([event("{}")], { fails });
      assert.match(text, /"id":5,"error":.*ended without an answer/);
    }
  });

  it("leaves a stream alone that can be resumed", async () => {
    assert.equal(await read([`id: a\n${event("{}")}`]), `id: a\n${event("{}")}`);
    await assert.rejects(read([`id: a\n${event("{}")}`], { fails: true }), /reset/);
  });

  it("breaks off a server's own stream with an event that is too large", async () => {
    await assert.rejects(read([event("x".repeat(2000))], { init: {} }), /too large/);
  });

  it("answers in place of a document that is too large", async () => {
    const json = { type: "application/json" };
    assert.equal(await read(['{"a":', "1}"], json), '{"a":1}');
    assert.match(await read(["x".repeat(600), "x".repeat(600)], json), /"id":5,"error"/);
  });
});
