/** The terminal that the process belongs to, read and written past its standard streams. */

import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { ReadStream } from "node:tty";
import { throwIfAborted, toAbortFailure } from "../base/async.ts";
import { createHiddenLine, LEFT } from "./hidden-line.ts";
import type { Terminal } from "./io.ts";

export const DEVICE = "/dev/tty";

/** Undefined without a terminal, and in the background: whoever reads one there is stopped. */
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
      show(prompt);
      try {
        return await readHidden(new ReadStream(openSync(DEVICE, "r")), signal);
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

/** Linux tells the group in front of the terminal; elsewhere it is taken to be ours. */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // Behind the name, which may hold brackets and blanks: state, parent, group, session, terminal, front.
    const [, , group, , , front] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return front !== "-1" && group === front;
  } catch {
    return true;
  }
}

/**
 * An answer counts when the question was on the screen. Line by line the terminal gives whole lines
 * alone; for a moment it is made to give what is half typed as well.
 */
function forgetTypedAhead(): void {
  const keys = new ReadStream(openSync(DEVICE, "r"));
  const fd = openSync(DEVICE, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    keys.setRawMode(true);
    const waste = Buffer.alloc(4096);
    while (readSync(fd, waste) > 0);
  } catch {
    // Nothing more is there.
  } finally {
    keys.setRawMode(false);
    keys.destroy();
    closeSync(fd);
  }
}

/** Key by key, because line by line the terminal shows what is typed. It is as it was at any exit of the process. */
async function readHidden(stream: ReadStream, signal: AbortSignal): Promise<string | undefined> {
  const stop = (): void => void stream.destroy(toAbortFailure(signal));
  const restore = (): void => {
    try {
      stream.setRawMode(false);
    } catch {
      // There is no terminal any more.
    }
  };
  signal.addEventListener("abort", stop, { once: true });
  process.on("exit", restore);
  const typed = createHiddenLine();
  try {
    stream.setRawMode(true);
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

/** The stream is closed whatever happens: an open one would keep the process from ending. */
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
