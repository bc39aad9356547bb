/** The answer that becomes a `Response`: it holds its writer back, and tells it when the reader has gone. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { WebAnswer } from "../../../src/server/embedded/web-answer.ts";
import { toMessage } from "../../../src/server/embedded/web-message.ts";

const PIECE = Buffer.alloc(40_000);

function open(method = "GET"): WebAnswer {
  return new WebAnswer(toMessage(new Request("http://localhost/", { method }), "/"));
}

describe("an answer to a `Request`", () => {
  it("tells its writer to wait until the reader has read", async () => {
    const answer = open();
    assert.equal(answer.write(PIECE), true);
    assert.equal(answer.write(PIECE), false);
    assert.deepEqual([answer.writableNeedDrain, answer.writableLength], [true, 80_000]);
    const reader = (await answer.response).body?.getReader() ?? assert.fail("no body");
    const drained = once(answer, "drain");
    await reader.read();
    await drained;
    assert.equal(answer.writableNeedDrain, false);
    answer.end("end");
    assert.deepEqual([answer.writableEnded, answer.writableFinished], [true, true]);
  });

  it("is closed, and not finished, for a reader that goes", async () => {
    const answer = open();
    answer.write("first");
    const closed = once(answer, "close");
    await (await answer.response).body?.cancel();
    await closed;
    assert.deepEqual([answer.destroyed, answer.writableFinished], [true, false]);
    assert.equal(answer.write("late"), true);
  });

  it("has no body where HTTP has none, and keeps several values of a header", async () => {
    const empty = open();
    empty.writeHead(204, { "set-cookie": ["a=1", "b=2"], connection: "close" }).end();
    const { status, body, headers } = await empty.response;
    assert.deepEqual([status, body, headers.getSetCookie()], [204, null, ["a=1", "b=2"]]);
    assert.equal(headers.has("connection"), false);
    const head = open("HEAD");
    head.writeHead(200, ["content-length", "5"]).end("hello");
    assert.equal((await head.response).body, null);
  });
});
