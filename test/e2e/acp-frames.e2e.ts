/**
 * Raw lines to `offshoot acp`: lines that are split, joined, long, unknown or wrong are answered in the
 * protocol's words, and the connection continues.
 */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { createPlace, type Place } from "./command.ts";

type Frame = Readonly<Record<string, unknown>>;

function request(id: unknown, method: string, params: unknown = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

const HELLO = request(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });

interface Answered {
  readonly frames: readonly Frame[];
  /** The code of the error that answers this request, or `ok`. */
  codeOf(id: unknown): unknown;
}

/** The input stays open until these requests are answered, like an editor's. */
async function send(
  place: Place,
  pieces: readonly string[],
  ids: readonly number[],
): Promise<Answered> {
  const input = new PassThrough();
  const command = place.start(["acp", "-m", "embedded/offline"], { input });
  for (const piece of pieces) input.write(piece);
  for (const id of ids) await command.waitForStdout(new RegExp(`"id":${id}[,}]`));
  input.end();
  const { code, stdout } = await command.ended;
  assert.equal(code, 0);
  const frames = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Frame);
  return {
    frames,
    codeOf(id) {
      const answers = frames.filter((frame) => frame["id"] === id && !("method" in frame));
      assert.equal(answers.length, 1, `answers to ${id}: ${JSON.stringify(answers)}`);
      const { result, error } = answers[0] as { result?: unknown; error?: { code: number } };
      return result === undefined ? error?.code : "ok";
    },
  };
}

describe("frames of an editor", () => {
  it("may come in pieces, several at once, and with unknown fields", async () => {
    await using place = await createPlace();
    const extra = { protocolVersion: 1, unknownField: true, clientCapabilities: { x: { y: 1 } } };
    const hello = request(1, "initialize", extra);
    const list = request(2, "session/list", { cwd: place.cwd, nobody: [1, 2] });
    const text = `${hello}\n${list}\r\n\n${request(3, "session/list", {})}\n`;
    const letters = [...text];
    for (const pieces of [[text], letters, [text.slice(0, 40), text.slice(40)]]) {
      const { codeOf } = await send(place, pieces, [1, 2, 3]);
      assert.deepEqual([codeOf(1), codeOf(2), codeOf(3)], ["ok", "ok", "ok"]);
    }
  });

  it("that are not messages, not known methods or not allowed now are errors, and the next is answered", async () => {
    await using place = await createPlace();
    const lines = [
      HELLO,
      "not json",
      "[]",
      '"text"',
      "{}",
      request(2, "no/such"),
      request(3, "session/prompt", { sessionId: "conv_none", prompt: [] }),
      request(4, "session/prompt", { prompt: "not blocks" }),
      request(5, "session/new", { cwd: 7 }),
      request(6, "session/new", null),
      request(7, "terminal/create", {}),
      JSON.stringify({ jsonrpc: "2.0", method: "no/such/notification" }),
      JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "conv_x" } }),
      JSON.stringify({ jsonrpc: "2.0", method: "session/cancel" }),
      JSON.stringify({ jsonrpc: "2.0", id: 99, result: {} }),
      JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: 1, message: "x" } }),
      request(8, "session/list", {}),
      // Not announced: a model may be ready without a sign-in.
      request(9, "logout"),
    ];
    const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const { codeOf } = await send(place, [`${lines.join("\n")}\n`], ids);
    assert.deepEqual(ids.map(codeOf), [
      "ok",
      -32_601,
      -32_002,
      -32_602,
      -32_602,
      -32_602,
      -32_601,
      "ok",
      -32_601,
    ]);
  });

  it("may ask for another version of the protocol, and get ours; an invalid version is refused", async () => {
    await using place = await createPlace();
    const versions = [0, 1, 2, 65_535, "1", 1.5, -1, null, undefined];
    const lines = versions.map((protocolVersion, at) =>
      request(at + 1, "initialize", { protocolVersion, clientCapabilities: {} }),
    );
    const ids = versions.map((_, at) => at + 1);
    const { codeOf, frames } = await send(place, [`${lines.join("\n")}\n`], ids);
    const codes = ["ok", "ok", "ok", "ok", -32_602, -32_602, -32_602, -32_602, -32_602];
    assert.deepEqual(ids.map(codeOf), codes);
    const answered = frames.flatMap(({ result }) => (result ? [result] : []));
    assert.deepEqual(
      answered.map((result) => (result as { protocolVersion: unknown }).protocolVersion),
      [1, 1, 1, 1],
    );
  });

  it("may leave out the list of MCP servers", async () => {
    await using place = await createPlace();
    const lines = [HELLO, request(2, "session/new", { cwd: place.cwd })];
    const { codeOf, frames } = await send(place, [`${lines.join("\n")}\n`], [1, 2]);
    assert.equal(codeOf(2), "ok");
    // The answer that names the session comes before everything about it.
    const at = frames.findIndex((frame) => frame["id"] === 2);
    const about = frames.findIndex((frame) => frame["method"] === "session/update");
    assert.ok(about < 0 || at < about);
  });

  it("of 10 MB are messages; one that is longer than any message ends the connection and nothing else", async () => {
    await using place = await createPlace();
    const long = { cwd: place.cwd, _meta: { filler: "x".repeat(10_000_000) } };
    const lines = [HELLO, request(2, "session/list", long), request(3, "session/list", {})];
    const { codeOf } = await send(place, [`${lines.join("\n")}\n`], [1, 2, 3]);
    assert.deepEqual([codeOf(1), codeOf(2), codeOf(3)], ["ok", "ok", "ok"]);
    const endless = "x".repeat(1_000_000);
    const flood = Array.from({ length: 40 }, () => endless);
    const after = await send(place, [`${HELLO}\n`, ...flood], [1]);
    assert.equal(after.codeOf(1), "ok");
  });
});
