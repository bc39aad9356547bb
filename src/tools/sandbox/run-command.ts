/**
 * Runs one command to its end. What it prints is kept from the beginning up to a limit and read on
 * beyond that, so that a flood neither fills memory nor stops the command at a full pipe. When this
 * returns its children in the background are ended too, as far as the level can find them
 * (`process.ts`).
 */

import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";
import { throwIfAborted } from "../../base/async.ts";
import { cutToBytes } from "../../base/text.ts";
import type { Command, Exit, RunningCommand, Sandbox } from "./sandbox.ts";
import type { Excess } from "./totals.ts";

export interface RunOptions {
  /** Written to its standard input, which is closed then; nothing when left out. */
  readonly stdin?: string;
  readonly timeoutMs: number;
  readonly maxStdoutBytes: number;
  readonly maxStderrBytes: number;
  readonly signal: AbortSignal;
  /** Puts what goes to standard error among standard output, in the order in which it comes. */
  readonly joins?: true;
}

export interface Ran {
  /** 128 and the signal's number when a signal ended it, as shells count. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** Whether it printed more than was kept. */
  readonly isCut: boolean;
  /** What it used more of than it may, where the sandbox ended it for that. */
  readonly exceeded?: Excess | undefined;
}

/** Rejects when it cannot be started, and with the signal's reason when that aborts. */
export async function runCommand(
  sandbox: Sandbox,
  command: Command,
  options: RunOptions,
): Promise<Ran> {
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
    // Closed under us: somebody who got away still held the other end.
  }
  kept.add(decoder.end());
}

/** Whether its time ran out. Also returns when the signal aborts; the caller looks at it. */
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
    // It may have been aborted while the command was being started.
    if (signal.aborted) onAbort();
    exited.then(() => end(false), onAbort);
  });
}

function toExitCode({ code, signal }: Exit): number {
  if (code !== null) return code;
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}
