/**
 * Runs one command to its end. The beginning of its output is kept up to a limit; the rest is read and
 * dropped, so that a flood neither fills memory nor blocks the command at a full pipe. When this returns,
 * its children in the background are ended too, as far as the level can find them (`process.ts`).
 */

import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";
import { throwIfAborted } from "../../base/async.ts";
import { cutToBytes } from "../../base/text.ts";
import type { Exit, RunningCommand, Sandbox, SandboxCommand } from "./sandbox.ts";
import type { ExceededTotal } from "./totals.ts";

export interface RunOptions {
  /** Written to its standard input, which is closed then; nothing if missing. */
  readonly stdin?: string;
  readonly timeoutMs: number;
  readonly maxStdoutBytes: number;
  readonly maxStderrBytes: number;
  readonly signal: AbortSignal;
  /** Joins standard error with standard output, in the order in which they come. */
  readonly joins?: true;
}

export interface RanCommand {
  /** 128 plus the signal's number if a signal ended it, like in shells. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** True if it printed more than was kept. */
  readonly isCut: boolean;
  /** The limit that it exceeded, if the sandbox ended it for that. */
  readonly exceeded?: ExceededTotal | undefined;
}

/** Rejects if it cannot be started, and with the signal's reason when that aborts. */
export async function runCommand(
  sandbox: Sandbox,
  command: SandboxCommand,
  options: RunOptions,
): Promise<RanCommand> {
  const { signal, timeoutMs } = options;
  throwIfAborted(signal);
  const running = await sandbox.start(command);
  try {
    running.stdin.end(options.stdin ?? "");
    const stdout = createKept(options.maxStdoutBytes);
    const stderr = options.joins ? stdout : createKept(options.maxStderrBytes);
    const drained = Promise.all([drain(running.stdout, stdout), drain(running.stderr, stderr)]);
    const timedOut = await waitForEnd(running, timeoutMs, signal);
    await running.kill();
    await drained;
    throwIfAborted(signal);
    const exceeded = running.exceeded?.();
    return {
      ...(exceeded !== undefined && { exceeded }),
      exitCode: toExitCode(await running.exited),
      stdout: stdout.text(),
      stderr: options.joins ? "" : stderr.text(),
      timedOut,
      isCut: stdout.isCut() || stderr.isCut(),
    };
  } finally {
    await running.kill();
  }
}

interface Kept {
  add(text: string): void;
  text(): string;
  isCut(): boolean;
}

function createKept(maxBytes: number): Kept {
  const pieces: string[] = [];
  let bytes = 0;
  return {
    add(text) {
      if (bytes < maxBytes) pieces.push(cutToBytes(text, maxBytes - bytes));
      bytes += Buffer.byteLength(text);
    },
    text: () => pieces.join(""),
    isCut: () => bytes > maxBytes,
  };
}

/** Each stream has a decoder of its own: a character may come in two pieces, with others between. */
async function drain(stream: AsyncIterable<Buffer>, kept: Kept): Promise<void> {
  const decoder = new StringDecoder("utf8");
  try {
    for await (const bytes of stream) kept.add(decoder.write(bytes));
  } catch {
    // Closed by us, because a process that got away still held the other end.
  }
  kept.add(decoder.end());
}

/** Returns true if its time ran out. Also returns when the signal aborts, which the caller checks. */
function waitForEnd(
  { exited }: RunningCommand,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(true), timeoutMs);
    const onAbort = (): void => end(false);
    const end = (timedOut: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(timedOut);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    // The signal may have been aborted while the command was being started.
    if (signal.aborted) onAbort();
    exited.then(() => end(false), onAbort);
  });
}

function toExitCode({ code, signal }: Exit): number {
  if (code !== null) return code;
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}
