import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runCommand } from "../../../src/tools/sandbox/run-command.ts";
import type { RunningCommand, Sandbox } from "../../../src/tools/sandbox/sandbox.ts";
import { patience } from "../../patience.ts";
import { openTestSandbox, RUN_OPTIONS, startsWithOutput } from "./test-sandbox.ts";

describe("runCommand", () => {
  it("returns the two streams and the exit code", async () => {
    await using place = await openTestSandbox("none");
    const ran = await place.sh("echo out; echo err >&2; exit 3");
    const expected = {
      exitCode: 3,
      stdout: "out\n",
      stderr: "err\n",
      timedOut: false,
      isCut: false,
    };
    assert.deepEqual(ran, expected);
  });

  it("joins the streams if asked to", async () => {
    await using place = await openTestSandbox("none");
    const { stdout, stderr } = await place.sh("echo out; echo err >&2", { joins: true });
    assert.deepEqual(stdout.split("\n").sort(), ["", "err", "out"]);
    assert.equal(stderr, "");
  });

  it("writes its input and closes it", async () => {
    await using place = await openTestSandbox("none");
    assert.equal((await place.sh("cat", { stdin: "grüße" })).stdout, "grüße");
  });

  it("accepts a command that does not read its input", async () => {
    await using place = await openTestSandbox("none");
    assert.equal((await place.sh("exit 0", { stdin: "x".repeat(1_000_000) })).exitCode, 0);
  });

  it("keeps the beginning of a long output, reads the rest and reports that it is truncated", async () => {
    await using place = await openTestSandbox("none");
    const script = "echo start; head -c 3000000 /dev/zero; echo end >&2";
    const { stdout, stderr, isCut, exitCode } = await place.sh(script, { maxStdoutBytes: 10 });
    assert.equal(stdout, "start\n\0\0\0\0");
    assert.deepEqual({ stderr, isCut, exitCode }, { stderr: "end\n", isCut: true, exitCode: 0 });
  });

  it("splits no character, and does not report a truncation at exactly the limit", async () => {
    await using place = await openTestSandbox("none");
    const cut = await place.sh("printf 'aéé'", { maxStdoutBytes: 4 });
    assert.deepEqual([cut.stdout, cut.isCut], ["aé", true]);
    const whole = await place.sh("printf 'aéé'", { maxStdoutBytes: 5 });
    assert.deepEqual([whole.stdout, whole.isCut], ["aéé", false]);
  });

  it("joins characters that come in pieces", async () => {
    const pieces = [...Buffer.from("é€😀")].map((byte) => Buffer.from([byte]));
    const ran = await runCommand(
      scripted(pieces),
      { argv: ["x"], cwd: "/" },
      { ...RUN_OPTIONS, signal: patience() },
    );
    assert.equal(ran.stdout, "é€😀");
  });

  it("stops at its time limit and returns the output so far", async () => {
    await using place = await openTestSandbox("none");
    const { stdout, timedOut, exitCode } = await runCommand(
      startsWithOutput(place.sandbox),
      { argv: ["/bin/sh", "-c", "echo first; sleep 100000"], cwd: place.root },
      { ...RUN_OPTIONS, signal: patience(), timeoutMs: 150 },
    );
    assert.deepEqual(
      { stdout, timedOut, exitCode },
      { stdout: "first\n", timedOut: true, exitCode: 137 },
    );
  });

  it("rejects with the signal's reason and leaves nothing running", async () => {
    await using place = await openTestSandbox("none");
    const controller = new AbortController();
    const run = place.sh("sleep 100000", { signal: controller.signal });
    setImmediate(() => controller.abort());
    await assert.rejects(run, { code: "cancelled" });
  });

  it("starts nothing for a signal that is aborted already", async () => {
    await using place = await openTestSandbox("none");
    await assert.rejects(place.sh("touch started", { signal: AbortSignal.abort() }), {
      code: "cancelled",
    });
    assert.equal((await place.sh("ls")).stdout, "");
  });
});

/** A sandbox in which every command prints these pieces. */
function scripted(pieces: readonly Buffer[]): Sandbox {
  const print = async function* (): AsyncGenerator<Buffer> {
    yield* pieces;
  };
  const running: RunningCommand = {
    stdin: process.stdin as unknown as NodeJS.WritableStream,
    stdout: print(),
    stderr: (async function* () {})(),
    exited: Promise.resolve({ code: 0, signal: null }),
    kill: async () => undefined,
  };
  const stdin = { end: () => undefined } as unknown as NodeJS.WritableStream;
  return {
    level: "none",
    start: async () => ({ ...running, stdin }),
    close: async () => undefined,
  };
}
