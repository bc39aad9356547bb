/**
 * The terminal that the process belongs to, read and written directly and not through standard streams.
 */

import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { ReadStream } from "node:tty";
import { throwIfAborted, toAbortFailure } from "../base/async.ts";
import type { Terminal } from "./io.ts";

export const DEVICE = "/dev/tty";

/**
 * Undefined without a terminal, and in the background: a process that reads a terminal there is stopped.
 */
export function openTerminalDevice(): Terminal | undefined {
  if (!isInForeground()) return undefined;
  try {
    closeSync(openSync(DEVICE, "r+"));
  } catch {
    return undefined;
  }
  return {
    columns: process.stderr.columns || process.stdout.columns || 80,
    async ask(prompt, signal) {
      throwIfAborted(signal);
      forgetTypedAhead();
      show(prompt);
      return await readLineFrom(new ReadStream(openSync(DEVICE, "r")), signal);
    },
    async askHidden(prompt, signal) {
      throwIfAborted(signal);
      forgetTypedAhead();
      try {
        return await readHidden(prompt, new ReadStream(openSync(DEVICE, "r")), signal);
      } finally {
        show("\n");
      }
    },
    show,
  };
}

function show(text: string): void {
  const fd = openSync(DEVICE, "w");
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/**
 * Linux reports the group in the foreground of the terminal; elsewhere it is assumed to be ours.
 */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // After the name, which may contain brackets and blanks: state, parent, group, session, terminal, foreground
    // group.
    const [, , group, , , front] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return front !== "-1" && group === front;
  } catch {
    return true;
  }
}

/**
 * Only an answer to a visible question counts. In line mode the terminal passes whole lines only; for a moment it is
 * switched to pass unfinished ones too.
 */
function forgetTypedAhead(): void {
  const keys = new ReadStream(openSync(DEVICE, "r"));
  const fd = openSync(DEVICE, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    keys.setRawMode(true);
    const waste = Buffer.alloc(4096);
    while (readSync(fd, waste) > 0);
  } catch {
    // The input has ended.
  } finally {
    keys.setRawMode(false);
    keys.destroy();
    closeSync(fd);
  }
}

/**
 * In key mode, because in line mode the terminal shows what is typed. So the prompt comes after the switch: a secret
 * that is pasted as soon as the prompt is there must not be shown. The terminal is restored at any exit of the process.
 */
async function readHidden(
  prompt: string,
  stream: ReadStream,
  signal: AbortSignal,
): Promise<string | undefined> {
  const stop = (): void => void stream.destroy(toAbortFailure(signal));
  const restore = (): void => {
    try {
      stream.setRawMode(false);
    } catch {
      // The terminal is gone.
    }
  };
  signal.addEventListener("abort", stop, { once: true });
  process.on("exit", restore);
  const typed = createHiddenLine();
  try {
    stream.setRawMode(true);
    show(prompt);
    for await (const keys of stream.setEncoding("utf8")) {
      const line = typed.take(String(keys));
      if (line !== undefined) return line === LEFT ? undefined : line;
    }
    return undefined;
  } finally {
    process.off("exit", restore);
    signal.removeEventListener("abort", stop);
    restore();
    stream.destroy();
  }
}

/** The stream is always closed: an open one would keep the process from ending. */
async function readLineFrom(stream: ReadStream, signal: AbortSignal): Promise<string | undefined> {
  const stop = (): void => void stream.destroy(toAbortFailure(signal));
  signal.addEventListener("abort", stop, { once: true });
  try {
    let line = "";
    for await (const chunk of stream.setEncoding("utf8")) {
      line += chunk;
      const end = line.search(/[\r\n]/);
      if (end >= 0) return line.slice(0, end);
    }
    return line === "" ? undefined : line;
  } finally {
    signal.removeEventListener("abort", stop);
    stream.destroy();
  }
}

/** The person left instead of answering: Ctrl-C, or Ctrl-D on an empty line. */
export const LEFT = Symbol("left");

/** A line that is typed without being shown: the keys of a terminal in raw mode, up to Enter. Pure. */
interface HiddenLine {
  /** Undefined until the line is complete. */
  take(keys: string): string | typeof LEFT | undefined;
}

/** Sequences of the terminal: arrows, and the marks around what is pasted. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the keys
const SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?/gs;

export function createHiddenLine(): HiddenLine {
  let typed: string[] = [];
  return {
    take(keys) {
      for (const key of keys.replace(SEQUENCES, "")) {
        if (key === "\r" || key === "\n") return typed.join("");
        if (key === "\x03" || (key === "\x04" && typed.length === 0)) return LEFT;
        typed = typeKey(typed, key);
      }
      return undefined;
    },
  };
}

/**
 * Backspace removes one character, Ctrl-U and Ctrl-W all: words of a hidden line cannot be seen.
 */
function typeKey(typed: string[], key: string): string[] {
  if (key === "\x7f" || key === "\b") return typed.slice(0, -1);
  if (key === "\x15" || key === "\x17") return [];
  return /\p{Cc}/u.test(key) ? typed : [...typed, key];
}
