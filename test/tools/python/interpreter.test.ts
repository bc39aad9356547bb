import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { createInterpreter } from "../../../src/tools/python/interpreter.ts";
import type { Exit, RunningCommand } from "../../../src/tools/sandbox/sandbox.ts";
import { PATIENCE_MS } from "../../patience.ts";

const REQUEST = { op: "imports", mem: 1, code: "" } as const;
const LIMITS = { timeoutMs: PATIENCE_MS, signal: new AbortController().signal };

describe("an interpreter", () => {
  it("answers a line with a line, wherever the pieces are split", async () => {
    const { command, asked, say } = createCommand();
    const interpreter = createInterpreter(command);
    const answer = interpreter.ask(REQUEST, LIMITS);
    say('{"names": ["é', '"]}\n');
    assert.deepEqual(await answer, { names: ["é"] });
    assert.equal(asked(), `${JSON.stringify(REQUEST)}\n`);
  });

  const errors: readonly (readonly [string, string])[] = [
    ['{"error": "out of memory"}', "Execution failed: out of memory"],
    ['{"error": "RangeError: Array buffer allocation failed"}', "Execution failed: out of memory"],
    ['{"error": "first\\nthe last line"}', "Execution failed: the last line"],
    ["not json", "Execution failed: the interpreter broke its protocol"],
    ["[1]", "Execution failed: the interpreter broke its protocol"],
  ];
  for (const [line, message] of errors) {
    it(`reports "${message}" for ${line}`, async () => {
      const { command, say } = createCommand();
      const answer = createInterpreter(command).ask(REQUEST, LIMITS);
      say(`${line}\n`);
      await assert.rejects(answer, { code: "tool_failed", message });
    });
  }

  const ends: readonly (readonly [Exit, string, string])[] = [
    [{ code: 3, signal: null }, "", "the interpreter ended (exit code 3)"],
    [{ code: null, signal: "SIGSEGV" }, "", "the interpreter ended (signal SIGSEGV)"],
    [{ code: 1, signal: null }, "a\nboom\n", "the interpreter ended (exit code 1): boom"],
    [{ code: null, signal: "SIGKILL" }, "", "out of memory"],
    [{ code: 134, signal: null }, "FATAL ERROR: JavaScript heap out of memory", "out of memory"],
  ];
  for (const [exit, words, why] of ends) {
    it(`reports "${why}" if it ends so`, async () => {
      const { command, end } = createCommand();
      const answer = createInterpreter(command).ask(REQUEST, LIMITS);
      end(exit, words);
      await assert.rejects(answer, { message: `Execution failed: ${why}` });
    });
  }

  it("is ended at its time limit", async () => {
    const { command } = createCommand();
    const answer = createInterpreter(command).ask(REQUEST, { ...LIMITS, timeoutMs: 1 });
    await assert.rejects(answer, { message: "Execution timed out after 0.001 s" });
  });

  it("is cancelled with its signal, also with one that is aborted already", async () => {
    const { command } = createCommand();
    const interpreter = createInterpreter(command);
    const stop = new AbortController();
    const answer = interpreter.ask(REQUEST, { timeoutMs: PATIENCE_MS, signal: stop.signal });
    stop.abort();
    await assert.rejects(answer, { code: "cancelled" });
    const again = interpreter.ask(REQUEST, { timeoutMs: PATIENCE_MS, signal: stop.signal });
    await assert.rejects(again, { code: "cancelled" });
  });
});

interface FakeCommand {
  readonly command: RunningCommand;
  asked(): string;
  say(...pieces: readonly string[]): void;
  end(exit: Exit, words: string): void;
}

function createCommand(): FakeCommand {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let leave: (exit: Exit) => void = () => undefined;
  const exited = new Promise<Exit>((resolve) => {
    leave = resolve;
  });
  return {
    command: { stdin, stdout, stderr, exited, kill: async () => undefined },
    asked: () => String(stdin.read()),
    say: (...pieces) => {
      for (const piece of pieces) stdout.write(piece);
    },
    end: (exit, words) => {
      stderr.end(words);
      stdout.end();
      leave(exit);
    },
  };
}
