import assert from "node:assert/strict";
import { closeSync, openSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { describe, it, type TestContext } from "node:test";
import { createInput, createOutput } from "../../src/cli/process-io.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";

function openFile(t: TestContext, path: string): number {
  const fd = openSync(path, "r");
  t.after(() => closeSync(fd));
  return fd;
}

const none = (): never => assert.fail("opened");

describe("standard input", () => {
  it("is piped when it is a file", (t) => {
    const file = join(createSandbox(t).home, "in.txt");
    put(file, "hello");
    const input = createInput(openFile(t, file), none);
    assert.deepEqual([input.isPiped, input.isTerminal], [true, false]);
  });

  it("is not piped when it is /dev/null or closed", (t) => {
    assert.equal(createInput(openFile(t, "/dev/null"), none).isPiped, false);
    assert.equal(createInput(9999, none).isPiped, false);
  });

  it("gives all bytes, whatever the pieces", async (t) => {
    const fd = openFile(t, "/dev/null");
    const bytes = Buffer.from("grüße\0x");
    const input = createInput(fd, () => Readable.from([...bytes].map((byte) => Buffer.of(byte))));
    assert.deepEqual(await input.readAll(bytes.length), bytes);
  });

  it("is refused past the limit without reading further", async (t) => {
    let pieces = 0;
    const source = Readable.from(
      (function* () {
        for (;;) {
          pieces++;
          yield Buffer.alloc(1024);
        }
      })(),
    );
    const input = createInput(openFile(t, "/dev/null"), () => source);
    await assert.rejects(input.readAll(10 * 1024), {
      code: "invalid_request",
      message: /^Standard input is larger than 10240 bytes\./,
    });
    assert.ok(source.destroyed);
    assert.ok(pieces < 100, `${pieces} pieces`);
  });

  it("is refused by the size of its file, without opening it", async (t) => {
    const file = join(createSandbox(t).home, "big");
    put(file, "");
    truncateSync(file, 200 * 1024 * 1024);
    const input = createInput(openFile(t, file), none);
    await assert.rejects(input.readAll(10 * 1024 * 1024), { message: /larger than 10 MB/ });
  });
});

describe("standard output", () => {
  it("makes the writer wait for a slow reader", async () => {
    const stream = new PassThrough({ highWaterMark: 4 });
    const output = createOutput(9999, () => stream as unknown as NodeJS.WriteStream, none);
    assert.equal(output.write("abc"), undefined);
    const waiting = output.write("defgh");
    assert.ok(waiting);
    let isDone = false;
    const done = waiting.then(() => {
      isDone = true;
    });
    await Promise.resolve();
    assert.equal(isDone, false);
    // In one piece or in several, as this Node.js gives them.
    let read = "";
    for (let piece = stream.read(); piece !== null; piece = stream.read()) read += String(piece);
    assert.equal(read, "abcdefgh");
    await done;
    assert.equal(stream.listenerCount("drain"), 0);
  });

  it("says once that its reader has gone, and lets no writer wait for it", async () => {
    const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    const stream = new Writable({ highWaterMark: 1, write: (_, __, done) => done(gone) });
    const told: unknown[] = [];
    const output = createOutput(
      9999,
      () => stream as unknown as NodeJS.WriteStream,
      (error) => {
        told.push(error.code);
      },
    );
    await output.write("one");
    await output.write("two");
    assert.deepEqual(told, ["EPIPE"]);
  });

  it("opens nothing before the first word", () => {
    createOutput(9999, none, none);
  });
});
