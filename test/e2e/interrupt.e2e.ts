/** Ctrl-C once cancels and keeps the partial answer; twice exits at once; a reader that leaves ends the run. */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { untilTrue } from "../patience.ts";
import { createPlace } from "./command.ts";
import { floodModel, startFlood } from "./flood.ts";
import { CHAT, RESPONSES, runAt, WIRES } from "./wires.ts";

const CANCELLING = /\noffshoot: cancelling; Ctrl-C again to leave at once\n/;

describe("an interrupt", () => {
  for (const wire of WIRES) {
    it(`cancels the run and keeps the partial answer, over ${wire.name}`, async () => {
      await using place = await createPlace();
      await using upstream = await wire.start({
        engine: script(reply.silence("Once upon a time")),
      });
      const command = place.start(runAt(upstream, wire, "--tools", "none", "Tell a story"));
      await command.waitForStdout("Once upon a time");
      command.child.kill("SIGINT");
      const ended = await command.ended;
      assert.deepEqual([ended.code, ended.signal], [130, null], ended.stderr);
      assert.equal(ended.stdout, "Once upon a time\n");
      assert.match(ended.stderr, CANCELLING);
      assert.match(ended.stderr, /\noffshoot: The run was cancelled\.\n$/);
      const request = await upstream.waitForRequest(1);
      await request.ended;
      assert.ok(request.aborted);

      const [id = ""] = await place.runIds();
      const run = await place.show(id);
      assert.equal(run.ending, "cancelled");
      const end = run.events.at(-1);
      assert.ok(end?.type === "run_end" && end.ending === "cancelled");
      assert.equal(end.output_text, "Once upon a time");
    });
  }

  it("cancels also before the server has begun to answer", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.silence()) });
    const command = place.start(runAt(upstream, CHAT, "Tell a story"));
    await upstream.waitForRequest(1);
    command.child.kill("SIGINT");
    const ended = await command.ended;
    assert.deepEqual([ended.code, ended.stdout], [130, ""], ended.stderr);
  });

  it("cancels in the middle of the wait before a retry", async () => {
    await using place = await createPlace();
    const busy = reply.status(429, { error: { message: "Busy." } }, { "retry-after": "30" });
    await using upstream = await CHAT.start({ engine: script(busy) });
    const command = place.start(runAt(upstream, CHAT, "Hi"));
    await command.waitForStderr("Trying custom again in 30.0 s.");
    command.child.kill("SIGINT");
    const ended = await command.ended;
    assert.deepEqual([ended.code, ended.stdout], [130, ""], ended.stderr);
  });

  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    it(`by ${signal} is the same`, async () => {
      await using place = await createPlace();
      await using upstream = await RESPONSES.start({ engine: script(reply.silence("Once upon")) });
      const command = place.start(runAt(upstream, RESPONSES, "--tools", "none", "Tell a story"));
      await command.waitForStdout("Once upon");
      command.child.kill(signal);
      const ended = await command.ended;
      assert.deepEqual([ended.code, ended.stdout], [130, "Once upon\n"], ended.stderr);
      const [id = ""] = await place.runIds();
      assert.equal((await place.show(id)).ending, "cancelled");
    });
  }

  it("ends the SSE form with an error and no response_end", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.silence("Once upon")) });
    const command = place.start(runAt(upstream, CHAT, "--sse", "Tell a story"));
    await command.waitForStdout('"on"');
    command.child.kill("SIGINT");
    const { code, stdout } = await command.ended;
    assert.equal(code, 130);
    assert.ok(
      stdout.endsWith(
        'data: {"id":"","delta":"Error: The run was cancelled.","type":"block_end"}\n\n',
      ),
    );
    assert.doesNotMatch(stdout, /response_end/);
  });

  it("exits at once the second time, even if its output is not read", async () => {
    await using place = await createPlace();
    // More than a pipe holds, and then a server that does not end.
    const flood = reply.silence("x".repeat(8_000_000), { pieceLength: 100_000 });
    await using upstream = await CHAT.start({ engine: script(flood) });
    const command = place.start(runAt(upstream, CHAT, "--tools", "none", "Flood"), {
      leavesStdout: true,
    });
    const { child } = command;
    await upstream.waitForRequest(1);
    await new Promise((resolve) => child.stdout?.once("readable", resolve));
    child.kill("SIGINT");
    await command.waitForStderr("Ctrl-C again to leave at once");
    child.kill("SIGINT");
    const { code, signal, stderr } = await command.ended;
    assert.deepEqual([code, signal], [130, null], stderr);
  });

  it("ends the command at once while it still waits for its input", async () => {
    await using place = await createPlace();
    const input = new PassThrough();
    input.write("and so on");
    const command = place.start(["run", "Hi"], { input });
    // The command reads its input as soon as it is up; the pipe never ends.
    await new Promise((resolve) => input.once("drain", resolve).once("data", resolve));
    command.child.kill("SIGINT");
    const { code, signal, stdout } = await command.ended;
    assert.ok(signal === "SIGINT" || code === 130, `${code} ${signal}`);
    assert.equal(stdout, "");
  });
});

describe("a reader that leaves", () => {
  it("cancels the run, with that exit code and no message", async () => {
    await using place = await createPlace();
    // It never ends: whatever a pipe holds, the reader's end is noticed.
    await using flood = await startFlood(Number.POSITIVE_INFINITY);
    const args = ["run", ...floodModel(flood), "--tools", "none", "-q", "Count"];
    const command = place.start(args, { leavesStdout: true });
    command.child.stdout?.once("data", () => command.child.stdout?.destroy());
    const { code, signal, stderr } = await command.ended;
    assert.deepEqual([code, signal, stderr], [130, null, ""]);
    await untilTrue(() => flood.open === 0, "the end of the model's answer");
    const [id = ""] = await place.runIds();
    assert.equal((await place.show(id)).ending, "cancelled");
  });

  it("is not a failure of a listing either", async () => {
    await using place = await createPlace();
    const command = place.start(["--help"], { leavesStdout: true });
    command.child.stdout?.destroy();
    const { code, signal, stderr } = await command.ended;
    assert.deepEqual([code, signal, stderr], [0, null, ""]);
  });
});
